import type { ClientConfig } from 'pg';
import { OptionError } from 'millrace/api';

const TLS: Readonly<Record<string, ClientConfig['ssl']>> = {
  disable: false,
  require: { rejectUnauthorized: false },
  'verify-full': true,
};

/**
 * Reads the option `url`. The client gets its parts and not the text, whose parameters could name another host.
 * @throws OptionError without the text, which may have a password
 */
export function addressOf(text: string): { readonly url: URL; readonly address: ClientConfig } {
  const wrong = (message: string, help?: string): OptionError => new OptionError(['url'], message, help);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const form = 'write postgres://USER:PASSWORD@HOST:5432/DATABASE; escape special characters, e.g. @ as %40';
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol) || url.hostname === '')
    throw wrong('`url` is not the address of a PostgreSQL database', form);
  const { sslmode = 'disable', ...others } = Object.fromEntries(url.searchParams);
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw wrong(`\`url\`: the parameter \`${other}\` is not supported; only \`sslmode\` is`);
  if (!Object.hasOwn(TLS, sslmode))
    throw wrong(`\`url\`: expected sslmode=${Object.keys(TLS).join(', ')}, found \`${sslmode}\``);
  url.hostname = url.hostname.toLowerCase();
  try {
    const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(
      (part) => decodeURIComponent(part) || undefined,
    );
    return {
      url,
      address: {
        host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: Number(url.port === '' ? 5432 : url.port),
        user,
        password,
        database,
        ssl: TLS[sslmode],
      },
    };
  } catch {
    throw wrong('`url` has a % that escapes no character', form);
  }
}
