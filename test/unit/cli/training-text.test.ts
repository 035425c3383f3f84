import { expect } from 'chai';
import { metricLines } from '../../../runtime/cli/report/training-text.js';

describe('the hold-out of a trained model', () => {
  const one = { mean: 0.9, lower: 0.8, upper: 1, queries: 3, shown: 0.5 };
  const holdout = { 'ndcg@10': { ...one, delta: 0.4, delta_lower: 0.3, delta_upper: 0.5 } };

  it('is compared with what users saw, or with the order of the pipeline where nobody saw a list', () => {
    const lines = (['judgments', 'feedback'] as const).flatMap((labels) =>
      metricLines({ holdout, data: { labels } } as unknown as Parameters<typeof metricLines>[0]),
    );
    const figures = 'delta +0.4000 [+0.3000, +0.5000]';
    expect(lines).to.deep.equal([
      `hold-out, judgments: ndcg@10 0.9000 [0.8000, 1.0000] of 3 requests; as ranked before 0.5000, ${figures}`,
      `hold-out, agreement with feedback: ndcg@10 0.9000 [0.8000, 1.0000] of 3 requests; as shown 0.5000, ${figures}`,
    ]);
  });
});
