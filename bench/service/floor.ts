import { createServer, type RequestListener } from 'node:http';
import express from 'express';
import { treeEngine } from '../../runtime/language/trees/tree-engine.js';
import { ensembleOf, featuresOf, itemId } from '../support/items-project.js';
import { FEATURES, PROJECT } from './data.js';
import { serveForBench } from './serve.js';

/**
 * The floor: the work that no design can avoid, with all data in process. It reads the body, gathers the candidates'
 * features into columns, scores them with the service's scorer, finds the best ten and writes them. It validates
 * nothing, counts nothing and supports only this one request. It runs behind Express like the service, or behind
 * node:http alone.
 */
const items = Number(process.argv[2]);
const columns = FEATURES.length;
const scorer = await treeEngine.compile(ensembleOf(PROJECT));
const rowOf = new Map<string, number>();
const table = new Float64Array(items * columns);
for (const [index, features] of featuresOf(PROJECT, items).entries()) {
  rowOf.set(itemId(index), index);
  table.set(features, index * columns);
}
const MOST = 1000;
const frame = FEATURES.map(() => ({ values: new Float64Array(MOST), stride: 1 as const }));
const scores = new Float64Array(MOST);
const found = new Int32Array(MOST);

function answer(text: string): string {
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
  const rows = Int32Array.from({ length: count }, (_, i) => i);
  scorer.score(rows, frame, [scores]);
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
}

function behindExpress(): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.post('/api/v1/items', express.raw({ type: () => true, limit: '2mb' }), (req, res) => {
    const text = answer((req.body as Buffer).toString());
    res.setHeader('Content-Type', 'application/json');
    res.setHeader('Content-Length', Buffer.byteLength(text));
    res.end(text);
  });
  return app;
}

const behindNothing: RequestListener = (req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const text = answer(Buffer.concat(chunks).toString());
    res.setHeader('Content-Type', 'application/json');
    res.setHeader('Content-Length', Buffer.byteLength(text));
    res.end(text);
  });
};

serveForBench(createServer(process.argv[3] === 'express' ? behindExpress() : behindNothing));
