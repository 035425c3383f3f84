/** Like `readUInt32LE` without its check of the bounds, for loops over records whose bounds were checked. */
export function uint32At(memory: Uint8Array, at: number): number {
  return (
    ((memory[at] as number) |
      ((memory[at + 1] as number) << 8) |
      ((memory[at + 2] as number) << 16) |
      ((memory[at + 3] as number) << 24)) >>>
    0
  );
}
