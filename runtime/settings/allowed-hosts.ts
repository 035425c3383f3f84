/** A host that may be called, at one port or at any. */
interface AllowedHost {
  readonly host: string;
  readonly port: string | undefined;
}

const ENTRY = /^(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\.?)(?::(\d{1,5}))?$/;

/** The hosts that models may be called at. */
export class AllowedHosts {
  static readonly none = new AllowedHosts([]);

  private constructor(readonly hosts: readonly AllowedHost[]) {}

  /** Reads `models.internal:8080,triton`; undefined where it is not that. */
  static parse(text: string): AllowedHosts | undefined {
    if (text.trim() === '') return AllowedHosts.none;
    const hosts: AllowedHost[] = [];
    for (const entry of text.split(',')) {
      const [, name, port] = ENTRY.exec(entry.trim().toLowerCase()) ?? [];
      if (name === undefined || Number(port ?? 1) > 65_535 || Number(port ?? 1) < 1) return undefined;
      if (!URL.canParse(`http://${name}`)) return undefined;
      // As a URL writes it, which is what it is compared with: an address has several spellings.
      const host = new URL(`http://${name}`).hostname;
      hosts.push({ host, port: port === undefined ? undefined : String(Number(port)) });
    }
    return new AllowedHosts(hosts);
  }

  allows(url: URL): boolean {
    const port = portOf(url);
    return this.hosts.some((one) => one.host === url.hostname && (one.port ?? port) === port);
  }
}

export function portOf(url: URL): string {
  return url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
}
