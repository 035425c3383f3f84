const UNITS = { B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 } as const;

/** `512B`, `64MB`, `1.5GB` in bytes, where 1 KB is 1024 bytes; undefined for any other text. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(B|KB|MB|GB|TB)$/.exec(text);
  if (match === null) return undefined;
  const bytes = Number(match[1]) * UNITS[match[2] as keyof typeof UNITS];
  return Number.isFinite(bytes) ? Math.round(bytes) : undefined;
}
