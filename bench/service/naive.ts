import { createServer } from 'node:http';
import express from 'express';
import { Redis } from 'ioredis';
import { ObjectTrees } from '../naive/object-trees.js';
import { ensembleOf } from '../support/items-project.js';
import { FEATURES, naiveKey, PROJECT } from './data.js';
import { serveForBench } from './serve.js';

/**
 * A naive service: one JSON blob per item, one object per candidate, features in maps with names that are
 * concatenated for each lookup, and trees of objects.
 */
const redis = new Redis(process.argv[2] ?? '');
const trees = new ObjectTrees(ensembleOf(PROJECT));

class Candidate {
  readonly features = new Map<string, number>();
  score = 0;
  constructor(readonly id: string) {}

  getFeature(name: string): number {
    return this.features.get(`${this.id}:item_stats:${name}`) ?? NaN;
  }
}

const app = express();
app.use(express.json({ limit: '2mb' }));
app.post('/api/v1/items', async (req, res) => {
  const body = req.body as { candidates: { item_id: string }[]; user_page_size: number };
  const candidates = body.candidates.map(({ item_id }) => new Candidate(item_id));
  const blobs = await redis.mget(candidates.map(({ id }) => naiveKey(id)));
  for (const [i, candidate] of candidates.entries()) {
    const features = JSON.parse(blobs[i] ?? '{}') as Record<string, number>;
    for (const [name, value] of Object.entries(features))
      candidate.features.set(`${candidate.id}:item_stats:${name}`, value);
  }
  const rows = candidates.map((candidate) =>
    Object.fromEntries(FEATURES.map((name) => [name, candidate.getFeature(name)])),
  );
  const scores: number[] = [];
  trees.score(rows, [scores]);
  for (const [i, candidate] of candidates.entries()) candidate.score = scores[i] ?? 0;
  candidates.sort((a, b) => b.score - a.score);
  res.json({
    ranked_candidates: candidates
      .slice(0, body.user_page_size)
      .map(({ id, score }) => ({ candidate_id: id, ranked_score: score })),
  });
});

serveForBench(createServer(app));
