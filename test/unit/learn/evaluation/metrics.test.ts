import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { kendallTau } from '../../../../runtime/ground/core/compare-rankings.js';
import { METRIC_NAMES, parseMetric, type Metric } from '../../../../runtime/learn/evaluation/metric-names.js';
import type { JudgedRanking, MetricOptions } from '../../../../runtime/learn/evaluation/metrics.js';
import { ndcg as referenceNdcg } from '../../../support/ndcg.js';
import { repositoryPath } from '../../../support/repository.js';

const LINEAR: MetricOptions = { gain: 'linear', relevant: 1, maxGrade: 4 };
const EXP2: MetricOptions = { ...LINEAR, gain: 'exp2' };

function metric(name: string): Metric {
  const parsed = parseMetric(name);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed;
}

function valueOf(name: string, ranking: JudgedRanking, options = EXP2): number | undefined {
  return metric(name).of(ranking, options);
}

const rankingOf = (ranked: readonly number[], more: readonly number[] = []): JudgedRanking => ({
  ranked,
  ideal: [...ranked, ...more].filter((grade) => !Number.isNaN(grade)).sort((a, b) => b - a),
});

/** Vectors of trec_vectors.py. */
interface Query {
  readonly qrels: Readonly<Record<string, number>>;
  readonly run: Readonly<Record<string, number>>;
  readonly expected: Readonly<Record<string, number>>;
}
interface Pair {
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly tau: number | null;
}

const vectors = readFileSync(
  repositoryPath('test', 'unit', 'learn', 'evaluation', 'trec-vectors.jsonl'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Query | Pair);

/** Names of pytrec-eval-terrier, and ours. */
const NAMES: Readonly<Record<string, string>> = {
  map: 'map',
  map_cut_5: 'map@5',
  recip_rank: 'mrr',
  ndcg: 'ndcg',
  ndcg_cut_5: 'ndcg@5',
  ndcg_cut_10: 'ndcg@10',
  P_5: 'precision@5',
  P_10: 'precision@10',
  recall_5: 'recall@5',
  recall_10: 'recall@10',
};

/** The order of trec_eval: by score, ties by id in descending order. */
function trecRanking({ qrels, run }: Query): JudgedRanking {
  const ids = Object.keys(run).sort((a, b) => (run[b] ?? 0) - (run[a] ?? 0) || (a < b ? 1 : -1));
  return {
    ranked: ids.map((id) => qrels[id] ?? NaN),
    ideal: Object.values(qrels).sort((a, b) => b - a),
  };
}

describe('metrics', () => {
  it('equal those of pytrec-eval-terrier', () => {
    const queries = vectors.filter((one): one is Query => 'qrels' in one);
    expect(queries).to.have.length.above(50);
    for (const query of queries) {
      const ranking = trecRanking(query);
      for (const [name, expected] of Object.entries(query.expected))
        expect(valueOf(NAMES[name] ?? name, ranking, LINEAR) ?? 0, name).to.be.closeTo(expected, 1e-9);
    }
  });

  it('give ERR as the expectation over every set of candidates that satisfy', () => {
    const grade = fc.integer({ min: 0, max: 4 });
    fc.assert(
      fc.property(fc.array(grade, { maxLength: 9 }), fc.integer({ min: 1, max: 10 }), (grades, k) => {
        let expected = 0;
        for (let satisfying = 0; satisfying < 2 ** grades.length; satisfying++) {
          const satisfies = (rank: number): boolean => ((satisfying >> rank) & 1) === 1;
          let probability = 1;
          grades.forEach((one, rank) => {
            const stop = (2 ** one - 1) / 2 ** 4;
            probability *= satisfies(rank) ? stop : 1 - stop;
          });
          const first = grades.findIndex((_, rank) => satisfies(rank));
          if (first !== -1 && first < k) expected += probability / (first + 1);
        }
        const found = valueOf(`err@${k}`, rankingOf(grades));
        if (grades.every((one) => one === 0)) expect(found).to.equal(undefined);
        else expect(found).to.be.closeTo(expected, 1e-9);
      }),
    );
  });

  it('give NDCG with the gain 2^grade − 1 as the reference of the acceptance tests', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 20 }),
        (grades, k) => {
          const expected = referenceNdcg(grades, k);
          expect(valueOf(`ndcg@${k}`, rankingOf(grades)) ?? NaN).to.deep.equal(expected);
        },
      ),
    );
  });

  it('count a judged candidate that is not ranked as lost', () => {
    expect(valueOf('ndcg@10', rankingOf([1], [3]))).to.be.closeTo(1 / (7 + 1 / Math.log2(3)), 1e-12);
    expect(valueOf('recall@10', rankingOf([1], [3]))).to.equal(0.5);
    expect(valueOf('map', rankingOf([1], [3]))).to.equal(0.5);
  });

  it('treat a candidate without a grade as not relevant, and count it in judged@k', () => {
    const ranking = rankingOf([NaN, 2, NaN]);
    expect(valueOf('mrr', ranking)).to.equal(0.5);
    expect(valueOf('judged@2', ranking)).to.equal(0.5);
    expect(valueOf('judged@10', ranking)).to.be.closeTo(1 / 3, 1e-12);
  });

  it('are not defined without a relevant candidate', () => {
    for (const name of ['ndcg@10', 'map', 'mrr', 'precision@10', 'recall@10', 'err@10'])
      expect(valueOf(name, rankingOf([0, 0])), name).to.equal(undefined);
    expect(valueOf('judged@10', rankingOf([]))).to.equal(undefined);
  });

  it('stay finite for the largest grade', () => {
    expect(valueOf('ndcg@10', rankingOf([0, 1000]))).to.be.closeTo(1 / Math.log2(3), 1e-12);
    expect(valueOf('err@10', rankingOf([1000, 1000]), { ...EXP2, maxGrade: 1000 })).to.be.closeTo(1, 1e-12);
  });
});

describe('the names of metrics', () => {
  it('are read with any depth', () => {
    for (const name of METRIC_NAMES) expect(metric(name).name).to.equal(name);
    expect(metric('ndcg@3').k).to.equal(3);
    expect(metric('map').k).to.equal(Infinity);
  });

  it('say what is wrong with a name', () => {
    const helpOf = (name: string): string => {
      const parsed = parseMetric(name);
      return 'problem' in parsed ? `${parsed.problem}: ${parsed.help}` : '';
    };
    expect(helpOf('ndgc@5')).to.match(/^there is no metric `ndgc@5`: did you mean `ndcg@5`\? /);
    expect(helpOf('precision')).to.equal('`precision` needs a depth: write it as `precision@10`');
    expect(helpOf('ndcg@0')).to.contain('from 1 to 100000');
    expect(helpOf('toString')).to.contain('no metric');
  });
});

describe("Kendall's tau-b", () => {
  it('equals that of scipy', () => {
    const pairs = vectors.filter((one): one is Pair => 'tau' in one);
    expect(pairs).to.have.length.above(20);
    for (const { x, y, tau } of pairs) {
      if (tau === null) expect(kendallTau(x, y)).to.equal(undefined);
      else expect(kendallTau(x, y)).to.be.closeTo(tau, 1e-9);
    }
  });
});
