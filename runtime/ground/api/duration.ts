const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** `150ms`, `2s`, `1.5h`, `7d` in milliseconds; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(text);
  if (match === null) return undefined;
  const milliseconds = Number(match[1]) * UNITS[match[2] as keyof typeof UNITS];
  return Number.isFinite(milliseconds) ? Math.round(milliseconds) : undefined;
}
