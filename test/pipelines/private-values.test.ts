import { expect } from 'chai';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { trimStore } from '../../runtime/state/privacy/trim.js';
import { startProject, type TestProject } from '../support/project.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const DAY = 86_400_000;

const FILES = {
  'schemas/entities/user.yaml': `entity: user
attributes:
  email: { type: string, private: true }
  age: { type: int, private: true }
  tags: { type: list(string), private: true }
  taste: { type: vector(2), private: true }
  doctor: { type: ref(doctor), private: true }
  born: { type: timestamp, private: true }
  home: { type: { record: { street: string, floor: int } }, private: true }
  city: string
  friend: ref(user)
`,
  'schemas/entities/doctor.yaml': 'entity: doctor\nattributes: { field: string }\n',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, brand: ref(brand), taste: vector(2) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\n',
  'schemas/features/user_stats.yaml':
    'view: user_stats\nof: [user]\nfeatures: { income: { type: float, private: true }, note: { type: string, private: true }, visits: int }\n',
  'schemas/features/doctor_stats.yaml': 'view: doctor_stats\nof: [doctor]\nfeatures: { visits: int }\n',
  'schemas/features/user_brand.yaml':
    'view: user_brand\nof: [user, brand]\nttl: 7d\nfeatures: { clicks: int }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { candidates: {}, user: user }
features:
  - user_stats
  - doctor_stats(user.doctor)
  - user_brand(user, product.brand)
define:
  mail: user.email
  shout: if(user.city == "x", user.email, "none")
  years: coalesce(user.age, 0)
  dozen: if(user.city == "x", user.age, 1)
  half: user.age / 2
  is_old: user.age > 60
components:
  - use: interaction
    as: history
    with: { of: user, with: product, outputs: { clicks: { event: click, window: 90d } } }
  - use: similarity
    as: near
    with: { vectors: [product.taste, user.taste] }
  - use: filter
    with: { keep: user.email != "a" and shout != "b" and mail != "c" and user.born < now() and user.home.street != "d" }
  - use: score
    with:
      value: half + years + dozen + count(user.tags) + user.home.floor + near:dot + history:clicks + doctor_stats:visits + user_stats:income + user_stats:visits + user_brand:clicks
  - use: boost
    with: { where: is_old and user.doctor.field == "x" and user.friend == user and user.city == "y" and user_stats:note == "z", multiply: 2 }
`,
};

const USER = {
  user_id: 'u-1',
  email: 'canary@example.org',
  age: 73519,
  tags: ['canary-tag'],
  taste: [0.7351, 0.25],
  doctor: 'canary-doctor',
  born: 1_234_567_890_123,
  home: { street: 'canary street', floor: 73518 },
  city: 'open-city',
  friend: 'u-2',
};
/** Values as text, without the UUIDs of events and runs: letters and digits of a secret may stand in them by chance. */
const textOf = (values: unknown): string =>
  JSON.stringify(values).replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, 'a UUID');

const SECRETS = [
  ...['canary', '73519', '0.7351', '1234567890123', '73518', '73520'],
  ...['cardiology-canary', '73521'],
];

async function fill(project: TestProject): Promise<void> {
  await project.upload('user', USER);
  await project.upload('doctor', { doctor_id: 'canary-doctor', field: 'cardiology-canary' });
  await project.upload('product', { product_id: 'p1', price: 3, brand: 'b-1', taste: [0.5, 0.25] });
  await project.push('user_stats', { user_id: 'u-1', income: 73520, note: 'canary note', visits: 4 });
  await project.push('doctor_stats', { doctor_id: 'canary-doctor', visits: 73521 });
  await project.push('user_brand', { user_id: 'u-1', brand_id: 'b-1', clicks: 9 });
}
const BODY = { request_id: 'r-1', user: { user_id: 'u-1' }, candidates: [{ product_id: 'p1' }] };

describe('private attributes and features', () => {
  let project: TestProject;
  before(async () => {
    project = await startProject(FILES, { now: () => NOW });
    await fill(project);
  });
  after(() => project.close());

  const explained = async (body: object): Promise<string> =>
    textOf(await project.app.pipelines[0]?.explain(body, { requestId: 'r' }));

  it('are used by rankings, and entities/get returns them', async () => {
    const [first] = await project.rank(BODY);
    expect(first?.ranked_score).to.be.greaterThan(73519);
    const { entities } = await project.app.entities.get({ entity_type: 'user', entity_ids: ['u-1'] });
    expect(entities['u-1']).to.deep.equal(USER);
  });

  it('are "private" in explanations, with their status; public values and computed numbers are shown', async () => {
    const explanation = await project.app.pipelines[0]?.explain(BODY, { requestId: 'r' });
    const values = { ...explanation?.request, ...explanation?.page[0]?.values };
    const hidden = Object.entries(values).flatMap(([name, { value }]) => (value === 'private' ? [name] : []));
    expect(hidden.sort()).to.deep.equal(
      [
        ...['user.email', 'user.age', 'user.tags', 'user.taste', 'user.doctor', 'user.born'],
        ...['user.home.street', 'user.home.floor', 'user.doctor.field', 'doctor_stats:visits'],
        ...['user_stats:income', 'user_stats:note', 'mail', 'shout', 'years', 'dozen'].filter(
          (name) => name in values,
        ),
      ].sort(),
    );
    expect(values['user.email']).to.deep.equal({ value: 'private', status: 'present' });
    expect(values['half']?.value).to.equal(73519 / 2);
    expect(values['is_old']?.value).to.equal(1);
    expect(values['user.city']?.value).to.equal('open-city');
    expect(values['user_brand:clicks']?.value).to.equal(9);
    const text = textOf(explanation);
    for (const secret of SECRETS) expect(text).not.to.include(secret);
  });

  it('are "private" in explanations if the request carries them', async () => {
    const carried = { ...USER, email: 'canary-2', doctor: { doctor_id: 'canary-3', field: 'canary-4' } };
    const text = await explained({ ...BODY, user: carried });
    expect(text).not.to.include('canary');
    expect(text).to.include('open-city');
  });

  it('are "private" in events, as are the identifiers of what a private reference leads to', async () => {
    const { events } = await project.run({ ...BODY, include_events: true });
    const text = textOf(events);
    for (const secret of SECRETS) expect(text).not.to.include(secret);
    expect(text).to.include('open-city').and.to.include('"feature_value":"private"');
    expect(text).to.include('"feature_identifier":"private","feature_identifier_type":"doctor"');
  });

  it('are not in the messages of invalid bodies', async () => {
    const fails = async (work: Promise<unknown> | undefined): Promise<MillraceError> =>
      (await work?.catch((error: unknown) => error)) as MillraceError;
    const wrong = {
      ...{ user_id: 'u-1', email: 735.19, age: 'canary', tags: ['canary', 73519], taste: [73519, 'canary'] },
      ...{ doctor: { canary: 1 }, born: 'canary', home: { street: 73519, floor: 'canary' } },
    };
    const errors = [
      await fails(project.app.entities.upload({ entity_type: 'user', entities: [wrong] })),
      await fails(
        project.app.entities.upload({
          ...{ entity_type: 'user', entity_key: 'email' },
          entities: [{ email: 'canary'.repeat(200) }, { email: ['canary'] }],
        }),
      ),
      await fails(
        project.app.features.push({
          view: 'user_stats',
          rows: [{ user_id: 'u', income: 'canary', note: 73519 }],
        }),
      ),
      await fails(
        project.app.pipelines[0]?.run(
          { ...BODY, user: { ...wrong, doctor: { doctor_id: 'canary'.repeat(300) } } },
          { requestId: 'r' },
        ),
      ),
    ];
    for (const error of errors) {
      expect(error.code).to.equal('invalid_body');
      const text = JSON.stringify([error.message, error.violations]);
      for (const secret of ['canary', '73519', '735.19']) expect(text).not.to.include(secret);
    }
    expect(JSON.stringify(errors[0]?.violations)).to.include('expected a text, found a number');
  });
});

describe('hashed ids', () => {
  const env = { MILLRACE_HASH_IDS: 'user,brand', MILLRACE_ID_SALT: 'a salt of the tests' };

  it('replace the ids of these types in events, the same id always by the same hash', async () => {
    const project = await startProject(FILES, { now: () => NOW, env });
    try {
      await fill(project);
      const { ranked, events } = await project.run({ ...BODY, include_events: true });
      const text = textOf(events);
      expect(text).not.to.include('u-1').and.not.to.include('u-2').and.not.to.include('b-1');
      expect(text).to.include('"p1"');
      expect(ranked[0]?.candidate_id).to.equal('p1');
      const hashes = new Set(text.match(/h_[\w-]{22}/g));
      expect(hashes.size).to.equal(3); // u-1, u-2, b-1
      const again = await project.run({ ...BODY, include_events: true });
      expect(new Set(JSON.stringify(again.events).match(/h_[\w-]{22}/g))).to.deep.equal(hashes);
      const pair = text.match(/"feature_identifier":"(h_[\w-]{22}):(h_[\w-]{22})"/);
      expect([...hashes])
        .to.include(pair?.[1])
        .and.to.include(pair?.[2]);
      const user = /"feature_identifier":"(h_[\w-]{22})","feature_identifier_type":"user"/.exec(text);
      expect(pair?.[1]).to.equal(user?.[1]);
    } finally {
      await project.close();
    }
  });

  it('replace the ids of the candidates in every kind of event', async () => {
    const project = await startProject(FILES, {
      env: { ...env, MILLRACE_HASH_IDS: 'product' },
      now: () => NOW,
    });
    try {
      await fill(project);
      const { events, ranked } = await project.run({ ...BODY, include_events: true });
      expect(JSON.stringify(events)).not.to.include('p1');
      expect(ranked[0]?.candidate_id).to.equal('p1');
    } finally {
      await project.close();
    }
  });

  for (const [what, bad, told] of [
    ['no salt', { MILLRACE_HASH_IDS: 'user' }, 'MILLRACE_ID_SALT is not'],
    ['a short salt', { ...env, MILLRACE_ID_SALT: 'short' }, 'MILLRACE_ID_SALT has an invalid value'],
    ['an unknown type', { ...env, MILLRACE_HASH_IDS: 'usr' }, 'did you mean user?'],
    ['request', { ...env, MILLRACE_HASH_IDS: 'request' }, 'without request'],
  ] as const)
    it(`are refused with ${what}`, async () => {
      const error: unknown = await startProject(FILES, { env: bad }).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(MillraceError);
      expect((error as MillraceError).code).to.equal('invalid_setting');
      expect((error as MillraceError).message).to.include(told);
    });
});

describe('the retention of feedback', () => {
  it('applies to reads at once, to writes, and to everything by store trim', async () => {
    let now = Date.now(); // the store drops expired records by the real clock
    const clock = (): number => now;
    const project = await startProject(FILES, { now: clock, env: { MILLRACE_HISTORY_RETENTION: '30d' } });
    try {
      await fill(project);
      const click = (user_id: string, request_id: string): Promise<unknown> =>
        project.app.feedback.record({
          request_id,
          user: { user_id },
          events: [{ type: 'click', product: { product_id: 'p1' } }],
        });
      const clicks = async (): Promise<unknown> => {
        const explanation = await project.app.pipelines[0]?.explain(BODY, { requestId: 'r' });
        return explanation?.page[0]?.values['history:clicks']?.value;
      };
      await click('u-1', 'a');
      await click('u-9', 'a');
      now += 20 * DAY;
      await click('u-1', 'b');
      expect(await clicks()).to.equal(2);
      now += 10 * DAY;
      expect(await clicks(), 'the window is 90d, the retention 30d').to.equal(1);
      const old = { request_id: 'c', user: { user_id: 'u-1' } };
      const events = [{ type: 'click', time: now - 31 * DAY, product: { product_id: 'p1' } }];
      expect((await project.app.feedback.record({ ...old, events })).answer.too_old).to.equal(1);
      const trim = (): Promise<unknown> =>
        trimStore(project.app.store, 'millrace', {
          views: project.app.config.views,
          retention: 30 * DAY,
          now,
        });
      expect(await trim()).to.deep.equal({ events: 2, histories: 1, feature_rows: 1 });
      expect(await clicks()).to.equal(1);
      expect(await trim()).to.deep.equal({ events: 0, histories: 0, feature_rows: 0 });
    } finally {
      await project.close();
    }
  });
});
