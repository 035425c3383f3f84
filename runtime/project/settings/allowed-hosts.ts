/** A host that may be called, at one port or at any port. */
interface AllowedHost {
  readonly host: string;
  readonly port: string | undefined;
}

const ENTRY = /^(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\.?)(?::(\d{1,5}))?$/;

/** The hosts that a setting names. */
export class AllowedHosts {
  static readonly none = new AllowedHosts([]);

  private constructor(readonly hosts: readonly AllowedHost[]) {}

  /** Parses `models.internal:8080,triton`. Returns undefined if the text has another form. */
  static parse(text: string): AllowedHosts | undefined {
    if (text.trim() === '') return AllowedHosts.none;
    const hosts: AllowedHost[] = [];
    for (const entry of text.split(',')) {
      const [, name, port] = ENTRY.exec(entry.trim().toLowerCase()) ?? [];
      if (name === undefined || Number(port ?? 1) > 65_535 || Number(port ?? 1) < 1) return undefined;
      if (!URL.canParse(`http://${name}`)) return undefined;
      // Normalizes the host as a URL does, because it is compared with a URL's host and an address has several
      // spellings.
      const host = new URL(`http://${name}`).hostname;
      hosts.push({ host, port: port === undefined ? undefined : String(Number(port)) });
    }
    return new AllowedHosts(hosts);
  }

  /** The hosts as sources of a content security policy. */
  sources(): string[] {
    return this.hosts.flatMap(({ host, port = '*' }) =>
      ['https', 'http'].map((scheme) => `${scheme}://${host}:${port}`),
    );
  }

  allows(url: URL): boolean {
    const port = portOf(url);
    return this.hosts.some((one) => one.host === url.hostname && (one.port ?? port) === port);
  }
}

const PORTS: Readonly<Record<string, string>> = {
  'https:': '443',
  'postgres:': '5432',
  'postgresql:': '5432',
};

export function portOf({ port, protocol }: URL): string {
  return port === '' ? (PORTS[protocol] ?? '80') : port;
}
