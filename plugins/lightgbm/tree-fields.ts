import { ModelFileError, NodeRule } from 'millrace/api';

/** `decision_type` of the text format: bit 0 categorical, bit 1 default left, bits 2 and 3 the missing type. */
export function ruleOf(decisionType: number): number {
  const defaultLeft = (decisionType & 2) === 0 ? 0 : NodeRule.defaultLeft;
  // A categorical split always sends a missing value right.
  if ((decisionType & 1) !== 0) return NodeRule.categorical | NodeRule.nan;
  const missing = (decisionType >> 2) & 3;
  if (missing > NodeRule.nan) throw new ModelFileError(`decision_type ${decisionType} is unknown`);
  return missing | (missing === NodeRule.none ? 0 : defaultLeft);
}

/** The members of a bit set of 32-bit words, ascending. */
export function bitSet(words: readonly number[]): Int32Array {
  const members: number[] = [];
  for (const [index, word] of words.entries())
    for (let bit = 0; bit < 32; bit++) if ((word >>> bit) & 1) members.push(index * 32 + bit);
  return Int32Array.from(members);
}
