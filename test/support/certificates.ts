import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';

/** Creates a CA, and certificates that it signed for the server and for a client. They are valid for a day. */
export async function makeCertificates(file: (name: string) => string): Promise<void> {
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    ...['req', '-x509', ...key, '-days', '1', '-subj', '/CN=test CA'],
    ...['-keyout', file('ca.key'), '-out', file('ca.pem')],
  );
  await writeFile(file('server.ext'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  await writeFile(file('client.ext'), 'extendedKeyUsage=clientAuth\n');
  for (const name of ['server', 'client']) {
    openssl(
      'req',
      ...key,
      '-subj',
      `/CN=${name}`,
      '-keyout',
      file(`${name}.key`),
      '-out',
      file(`${name}.csr`),
    );
    openssl(
      ...['x509', '-req', '-in', file(`${name}.csr`), '-CA', file('ca.pem'), '-CAkey', file('ca.key')],
      ...['-CAcreateserial', '-days', '1', '-extfile', file(`${name}.ext`), '-out', file(`${name}.pem`)],
    );
  }
}

/** Returns the arguments of redis-server for TLS with these certificates, without the ports. */
export function tlsArguments(file: (name: string) => string): string[] {
  return [
    ...['--tls-cert-file', file('server.pem'), '--tls-key-file', file('server.key')],
    ...['--tls-ca-cert-file', file('ca.pem'), '--tls-replication', 'yes'],
  ];
}
