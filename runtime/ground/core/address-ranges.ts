import { BlockList, isIP } from 'node:net';

/** A set of IP addresses, given as addresses and CIDR ranges. */
export class AddressRanges {
  static readonly none = new AddressRanges(new BlockList(), true);

  private constructor(
    private readonly list: BlockList,
    readonly isEmpty: boolean,
  ) {}

  /** Parses `10.0.0.0/8,fd00::/8,192.0.2.7`. Returns undefined if the text has another form. */
  static parse(text: string): AddressRanges | undefined {
    if (text.trim() === '') return AddressRanges.none;
    const list = new BlockList();
    for (const entry of text.split(',')) {
      const [address = '', bits, ...rest] = entry.trim().split('/');
      const version = isIP(address);
      const most = version === 4 ? 32 : 128;
      const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : NaN;
      if (version === 0 || rest.length > 0 || !(prefix <= most)) return undefined;
      list.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
    }
    return new AddressRanges(list, false);
  }

  /** @param address an IP address; an IPv4 address may have the prefix `::ffff:` */
  has(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.list.check(address, version === 4 ? 'ipv4' : 'ipv6');
  }
}
