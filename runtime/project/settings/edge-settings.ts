import { resolve } from 'node:path';
import { AddressRanges } from '../../ground/core/address-ranges.js';
import { parseHost } from '../../ground/core/host-name.js';
import { parseRate, RATE_FORM } from '../../ground/core/rate.js';
import { oneOf, row, wholeNumber } from './setting-row.js';

const OFF = 'off';
const PORT = wholeNumber(0, 65_535);

/** What people may do, by role. `ROLES` of runtime/serve/access has their scopes. */
export const ROLE_NAMES = ['merchandiser', 'scientist', 'judge', 'operator', 'admin'] as const;

function roles(text: string): ReadonlyMap<string, (typeof ROLE_NAMES)[number]> | undefined {
  const found = new Map<string, (typeof ROLE_NAMES)[number]>();
  for (const entry of text.split(',').filter((one) => one.trim() !== '')) {
    const [, group = '', name] = /^(.+)=([a-z]+)$/.exec(entry.trim()) ?? [];
    const role = ROLE_NAMES.find((one) => one === name);
    if (role === undefined || found.has(group.trim())) return undefined;
    found.set(group.trim(), role);
  }
  return found;
}

/** Who may reach the service over the network, and how (runtime/serve/http/edge). */
export const EDGE_SETTINGS = {
  hosts: row({
    env: 'MILLRACE_HOSTS',
    value: 'NAMES',
    default: '',
    description:
      'Host names under which clients reach the service, e.g. `ranking.example.com,millrace`. Requests with another Host header are refused. A service that listens on loopback always answers to `localhost`, `127.0.0.1` and `[::1]`; a service that listens elsewhere answers to every name if this is empty.',
    expected: 'host names or addresses without ports, separated by commas',
    list: true,
    parse: hostNames,
  }),
  corsOrigins: row({
    env: 'MILLRACE_CORS_ORIGINS',
    value: 'ORIGINS',
    default: '',
    description:
      'Origins of web pages that may call the service from a browser (CORS), e.g. `https://shop.example.com`. By default none: requests from pages of other origins are refused.',
    expected:
      'origins such as https://shop.example.com, separated by commas, without paths; `*` is not allowed',
    list: true,
    parse: origins,
  }),
  ratePerAddress: row({
    env: 'MILLRACE_RATE_PER_ADDRESS',
    value: 'RATE',
    default: OFF,
    description:
      'Maximum rate of requests from one client address, e.g. `100/s`, `600/m` or `5000/12h`; `off` for no limit. The addresses of one IPv6 /64 network count as one. Health checks are not limited.',
    expected: `${RATE_FORM}, or off`,
    dividedByWorkers: true,
    parse: (text) => (text === OFF ? OFF : parseRate(text)),
  }),
  trustedProxies: row({
    env: 'MILLRACE_TRUSTED_PROXIES',
    value: 'RANGES',
    default: '',
    description:
      'Addresses of proxies whose header `X-Forwarded-For` gives the address of the client, e.g. `10.0.0.0/8,fd00::/8`. By default the header is ignored.',
    expected: 'IP addresses or CIDR ranges, separated by commas',
    list: true,
    parse: (text) => AddressRanges.parse(text),
  }),
  signInProxies: row({
    env: 'MILLRACE_SIGN_IN_PROXIES',
    value: 'RANGES',
    default: '',
    description:
      'Addresses of proxies at which people sign in, e.g. `10.0.0.7`. The service takes the name of the person from their header `X-Forwarded-User`, and the groups from `X-Forwarded-Groups`; from other addresses, these headers are ignored. By default from all. The service must have keys.',
    expected: 'IP addresses or CIDR ranges, separated by commas',
    list: true,
    parse: (text) => AddressRanges.parse(text),
  }),
  signInRoles: row({
    env: 'MILLRACE_SIGN_IN_ROLES',
    value: 'ROLES',
    default: '',
    description:
      'The roles of groups of people who sign in at a proxy, e.g. `shop-team=merchandiser,data=scientist`. Without a group that has a role, a person may do nothing.',
    expected: `groups with roles (${ROLE_NAMES.join(', ')}) such as shop-team=merchandiser, separated by commas`,
    list: true,
    parse: roles,
  }),
  tlsCert: row({
    env: 'MILLRACE_TLS_CERT',
    value: 'FILE',
    default: '',
    description:
      'File with the certificate chain of the service (PEM). With it and MILLRACE_TLS_KEY, the service answers only over TLS. A changed file is loaded without a restart.',
    expected: 'a file',
    parse: (text, folder) => (text === '' ? '' : resolve(folder, text)),
  }),
  tlsKey: row({
    env: 'MILLRACE_TLS_KEY',
    value: 'FILE',
    default: '',
    description: 'File with the private key of MILLRACE_TLS_CERT (PEM).',
    expected: 'a file',
    parse: (text, folder) => (text === '' ? '' : resolve(folder, text)),
  }),
  tlsClientCa: row({
    env: 'MILLRACE_TLS_CLIENT_CA',
    value: 'FILE',
    default: '',
    description:
      'File with CA certificates (PEM). With it, each client must present a certificate that one of them signed, health checks included.',
    expected: 'a file',
    parse: (text, folder) => (text === '' ? '' : resolve(folder, text)),
  }),
  adminPort: row({
    env: 'MILLRACE_ADMIN_PORT',
    value: 'PORT',
    default: OFF,
    description:
      'Port of a second listener for operators. With it, `/metrics`, `/explain`, the API reference and the scans are answered there only. `off` for none, 0 for any free port.',
    expected: 'a port number, 0 to 65535, or off',
    parse: (text) => (text === OFF ? OFF : PORT(text, '.')),
  }),
  adminHost: row({
    env: 'MILLRACE_ADMIN_HOST',
    value: 'HOST',
    default: '127.0.0.1',
    description: 'Address that the second listener listens on.',
    expected: 'an address or host name of this machine',
    parse: (text) => (/^[\w.:%-]+$/.test(text) ? text : undefined),
  }),
  workbench: row({
    env: 'MILLRACE_WORKBENCH',
    value: 'WHAT',
    default: 'on',
    description:
      'Whether the service has the pages `/workbench` and `/session`: `on`, `off` (it has what they ask for, and not the pages), or `only`: the pages and what they ask for, on `PORT`, without rankings, uploads and feedback, as `millrace workbench` serves them.',
    expected: 'on, off or only',
    parse: oneOf('on', 'off', 'only'),
  }),
} as const;

function hostNames(text: string): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const entry of entriesOf(text)) {
    // An IPv6 address may be written without brackets.
    const host = parseHost(entry) ?? parseHost(`[${entry}]`);
    if (host === undefined || /[*]|(?:\]|^[^:]*):\d*$/.test(entry)) return undefined;
    names.add(host.name);
  }
  return names;
}

function origins(text: string): ReadonlySet<string> | undefined {
  const found = new Set<string>();
  for (const entry of entriesOf(text)) {
    const origin = entry.toLowerCase();
    if (!/^https?:[^*]*$/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin)
      return undefined;
    found.add(origin);
  }
  return found;
}

function entriesOf(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(',').map((entry) => entry.trim());
}
