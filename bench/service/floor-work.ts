import { treeEngine } from '../../runtime/language/trees/tree-engine.js';
import { ensembleOf, featuresOf, itemId } from '../support/items-project.js';
import { FEATURES, PROJECT } from './data.js';

const MOST = 1000;

/**
 * The work that no design can avoid, with all data in process. It parses the body, gathers the candidates' features
 * into columns, scores them with the service's scorer, finds the best ten and writes them. It validates nothing, counts
 * nothing and supports only this one request.
 * @returns what answers a body
 */
export async function floorWork(items: number): Promise<(text: string) => string> {
  const columns = FEATURES.length;
  const scorer = await treeEngine.compile(ensembleOf(PROJECT));
  const rowOf = new Map<string, number>();
  const table = new Float64Array(items * columns);
  for (const [index, features] of featuresOf(PROJECT, items).entries()) {
    rowOf.set(itemId(index), index);
    table.set(features, index * columns);
  }
  const frame = FEATURES.map(() => ({ values: new Float64Array(MOST), stride: 1 as const }));
  const scores = new Float64Array(MOST);
  const found = new Int32Array(MOST);
  const all = Int32Array.from({ length: MOST }, (_, i) => i);

  return (text) => {
    const { candidates, user_page_size: size } = JSON.parse(text) as {
      candidates: { item_id: string }[];
      user_page_size: number;
    };
    const count = candidates.length;
    for (let i = 0; i < count; i++) found[i] = rowOf.get(candidates[i]?.item_id ?? '') ?? 0;
    for (let c = 0; c < columns; c++) {
      const values = frame[c]?.values ?? scores;
      for (let i = 0; i < count; i++) values[i] = table[(found[i] as number) * columns + c] as number;
    }
    scorer.score(all.subarray(0, count), frame, [scores]);
    const best: number[] = [];
    for (let i = 0; i < count; i++) {
      const score = scores[i] as number;
      if (best.length === size && score <= (scores[best[size - 1] as number] as number)) continue;
      let at = best.length;
      while (at > 0 && (scores[best[at - 1] as number] as number) < score) at--;
      best.splice(at, 0, i);
      if (best.length > size) best.pop();
    }
    return JSON.stringify({
      ranked_candidates: best.map((i) => ({
        candidate_id: candidates[i]?.item_id,
        ranked_score: scores[i],
      })),
    });
  };
}
