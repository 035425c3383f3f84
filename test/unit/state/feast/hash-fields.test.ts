import { expect } from 'chai';
import {
  collidingFeatures,
  featureField,
  timeField,
} from '../../../../runtime/project/config/project/feast-fields.js';
import { murmur3 } from '../../../../runtime/ground/core/murmur3.js';

describe("fields of Feast's hashes", () => {
  it('are the hash of view:feature, little-endian, also for non-ASCII names', () => {
    for (const [view, feature] of [
      ['a', 'b'],
      ['отзывы', 'оценка'],
    ] as const) {
      const hash = murmur3(Buffer.from(`${view}:${feature}`, 'utf8'));
      expect([...featureField(view, feature)]).to.deep.equal(
        [0, 8, 16, 24].map((bits) => (hash >>> bits) & 255),
      );
    }
  });

  it('include the event time of a view under its name', () => {
    expect(timeField('stats').toString()).to.equal('_ts:stats');
  });

  it('reveal features that share a field', () => {
    const names = ['clicks_1', 'clicks_19588', 'clicks_39480', 'clicks_19588'];
    const features = names.map((feature) => ({ view: 'user_stats', feature }));
    expect(collidingFeatures(features)).to.deep.equal([[features[1], features[2]]]);
    expect(featureField('user_stats', 'clicks_19588')).to.deep.equal(
      featureField('user_stats', 'clicks_39480'),
    );
  });
});
