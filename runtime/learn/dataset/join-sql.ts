import { RANKING_NAMES } from '../../state/ledger/ranking-fields.js';
import { MILLION, type DataSetOptions } from './options.js';
import { CLICK } from './scan-ledger.js';
import type { SqlDialect } from './sql-dialects.js';

/** The number of a row among those that stand for the same. */
const CHOICE = 'millrace_choice';
/** The id of a key of a view, taken from the candidate. */
const refOf = (view: number, key: number): string => `millrace_key_${view}_${key}`;
/** The columns of the compacted ledger that are not values of the pipeline. */
const OWN = {
  rankings: [
    ...RANKING_NAMES.record,
    'pipeline',
    'pipeline_version',
    'candidate_type',
    'project',
    'day',
    CHOICE,
  ],
  candidates: [...RANKING_NAMES.candidate, 'request_id', 'time', 'pipeline', 'day', CHOICE],
};

/** A view whose history is joined. */
export interface SqlView {
  readonly view: string;
  /** Where the id of each key of the view is found. */
  readonly keys: readonly ('candidate' | { readonly entity: string } | { readonly column: string })[];
  readonly features: readonly { readonly name: string; readonly isText: boolean }[];
}

export interface SqlOptions extends DataSetOptions {
  readonly pipeline: string;
  readonly views: readonly SqlView[];
}

/** Without a bound: before and after all times. */
const EARLIEST = -8_640_000_000_000_000;
const LATEST = 8_640_000_000_000_000;

/**
 * SQL that makes the same rows as `buildDataSet` from the Parquet files of `ledger compact`: a view `data_set` with a column
 * `part`, and a statement that writes each part. Times are compared as epoch milliseconds.
 * @param ledger the folder that `ledger compact` wrote
 * @param out the folder of the data set; it must exist
 */
export function joinSql(dialect: SqlDialect, ledger: string, out: string, options: SqlOptions): string {
  const { pipeline, window, examined, split, gap, views } = options;
  const { text, millis, others, source } = dialect;
  const since = Number.isFinite(options.since) ? options.since : EARLIEST;
  const until = Number.isFinite(options.until) ? options.until : LATEST;
  const lowest =
    examined.rule !== 'last_click'
      ? ''
      : ` AND place <= coalesce(max(CASE WHEN is_clicked THEN place END) OVER (PARTITION BY request_id), 0) + ${examined.further}`;
  const keys = { r: ['instance', 'sequence'], c: ['instance', 'sequence', 'candidate_id'] };
  const refs = views.flatMap(({ keys: its }, view) =>
    its.flatMap((key, at) => (typeof key === 'object' && 'column' in key ? [refOf(view, at)] : [])),
  );
  const tables = ['rankings', 'candidates', 'feedback', ...(views.length > 0 ? ['history'] : [])];
  return `-- The data set of ${pipeline}, joined over a compacted ledger.
${dialect.prologue}${tables.map((table) => source(`ledger_${table}`, `${ledger}/${table}`)).join('\n')}
${dialect.view} ledger_chosen AS
SELECT *,${quotedRefs(dialect, views)}
  -- The same candidate twice in one record: the first.
  row_number() OVER (PARTITION BY instance, sequence, candidate_id ORDER BY on_page DESC, sent_at) AS ${CHOICE}
FROM ledger_candidates
WHERE pipeline = ${text(pipeline)};
${dialect.patterns}
${dialect.view} data_set AS
WITH
all_feedback AS (
  SELECT request_id, event, subject_type, subject_id, event_id, owner, instance, sequence,
    ${millis('time')} AS time, ${millis('received')} AS received
  FROM ledger_feedback
),
-- The time of the last record: younger rankings than the window are left out.
latest AS (
  SELECT greatest((SELECT max(${millis('time')}) FROM ledger_rankings), (SELECT max(received) FROM all_feedback)) - ${window} AS bound
),
-- The pages of a request, in the order of their times.
pages AS (
  SELECT instance, sequence, request_id, candidate_type, entities, ${millis('time')} AS time,
    row_number() OVER (PARTITION BY request_id ORDER BY time, instance, sequence) AS page,
    min(${millis('time')}) OVER (PARTITION BY request_id) AS first_time
  FROM ledger_rankings
  WHERE pipeline = ${text(pipeline)} AND status = 'ok'
),
requests AS (
  SELECT request_id, first_time, candidate_type, entities
  FROM pages
  WHERE page = 1 AND first_time >= ${since} AND first_time < ${until} AND first_time <= (SELECT bound FROM latest)
),
${splitSql(dialect, split, gap, since, until)},
${labelsSql(dialect, options)},
${labelledSql(dialect, pipeline)},
examined AS (
  SELECT *, on_page${lowest} AS examined FROM labelled
),
candidate_values AS (
  SELECT instance, sequence, candidate_id, ${[...refs, others([...OWN.candidates, ...keys.c, ...refs])].join(', ')}
  FROM ledger_chosen
  WHERE ${CHOICE} = 1
),
request_values AS (
  SELECT instance, sequence, ${others([...OWN.rankings, 'instance', 'sequence'])}
  FROM (
    SELECT *, row_number() OVER (PARTITION BY instance, sequence ORDER BY time) AS ${CHOICE}
    FROM ledger_rankings
    WHERE pipeline = ${text(pipeline)}
  ) one
  WHERE ${CHOICE} = 1
)${views.map((view, at) => historySql(dialect, view, at)).join('')}
SELECT part, request_id, ${dialect.timestamp('first_time')} AS time, candidate_id, place, label, weight, examined,
  ${[others(keys.r, 'r'), others([...keys.c, ...refs], 'c'), ...views.flatMap(({ view, features }, at) => features.map(({ name }, n) => `h${at}.value_${n} AS ${dialect.quoted(`${view}:${name}`)}`))].join(', ')}
FROM examined
JOIN parts USING (request_id)
JOIN request_values r USING (instance, sequence)
JOIN candidate_values c USING (instance, sequence, candidate_id)
${views.map((_, at) => `LEFT JOIN history_${at} h${at} USING (instance, sequence, candidate_id)\n`).join('')}WHERE part IS NOT NULL;

${['train', 'holdout'].map((part) => dialect.write(others(['part']), `(SELECT * FROM data_set WHERE part = '${part}') one`, `${out}/${part}`)).join('\n')}
`;
}

/** The ids of keys that are references of the candidate, such as `product.brand`. */
function quotedRefs({ quoted }: SqlDialect, views: readonly SqlView[]): string {
  return views
    .flatMap(({ keys }, view) =>
      keys.map((key, at) =>
        typeof key === 'object' && 'column' in key ? ` ${quoted(key.column)} AS ${refOf(view, at)},` : '',
      ),
    )
    .join('');
}

/**
 * The row of a view that each candidate would have got: of the rows whose event time and stored time are not later than the
 * ranking, the greatest event time, then the one stored last. A row is known from the later of its two times on, so it is
 * the greatest row up to the time of the ranking in that order.
 */
function historySql(dialect: SqlDialect, { view, keys, features }: SqlView, at: number): string {
  const { text, millis, item, struct, starting, quoted } = dialect;
  const names = keys.map((_, key) => `key_${key}`);
  const by = names.length === 0 ? '' : `PARTITION BY ${names.join(', ')} `;
  const listed = (values: readonly string[]): string =>
    values.map((value, key) => `${value} AS key_${key},`).join(' ');
  const ids = keys.map((key, keyAt) => {
    if (key === 'candidate') return 'l.candidate_id';
    if ('column' in key) return `c.${refOf(at, keyAt)}`;
    return `substr(${starting('p.entities', `${key.entity}=`)}, ${key.entity.length + 2})`;
  });
  const values = features.map(({ name, isText }, n): readonly [string, string] => [
    `value_${n}`,
    isText ? quoted(name) : `CAST(${quoted(name)} AS DOUBLE)`,
  ]);
  const row = struct([
    ['time', millis('time')],
    ['stored', millis('stored')],
    ...(['instance', 'sequence', 'ttl'] as const).map((name) => [name, name] as const),
    ...values,
  ]);
  return `,
history_${at} AS (
  SELECT instance, sequence, candidate_id, ${values.map(([name]) => `CASE WHEN best.ttl IS NULL OR known - best.time <= best.ttl THEN best.${name} END AS ${name}`).join(', ')}
  FROM (
    SELECT instance, sequence, candidate_id, known, max(pushed) OVER (${by}ORDER BY known) AS best
    FROM (
      SELECT ${listed(names.map((_, key) => item('keys', key)))} greatest(${millis('time')}, ${millis('stored')}) AS known,
        ${row} AS pushed,
        CAST(NULL AS STRING) AS instance, CAST(NULL AS BIGINT) AS sequence, CAST(NULL AS STRING) AS candidate_id
      FROM ledger_history
      WHERE view = ${text(view)}
      UNION ALL
      SELECT ${listed(ids)} p.time AS known, NULL AS pushed, l.instance, l.sequence, l.candidate_id
      FROM labelled l
      JOIN pages p ON p.instance = l.instance AND p.sequence = l.sequence
      JOIN candidate_values c ON c.instance = l.instance AND c.sequence = l.sequence AND c.candidate_id = l.candidate_id
    ) rows_and_probes
  ) latest_rows
  WHERE candidate_id IS NOT NULL
)`;
}

/** The grade of each candidate of a request that has feedback. */
function labelsSql(dialect: SqlDialect, { label, attribute, window }: DataSetOptions): string {
  const { text } = dialect;
  const grades = [...label]
    .map(([event, grade]) => `WHEN ${text(event)} THEN CAST(${grade} AS DOUBLE)`)
    .join(' ');
  const events = [...new Set([...label.keys(), CLICK])].map(text).join(', ');
  return `-- Feedback with its request: by the request id, or by the last click of the same owner on the same candidate.
clicks AS (
  SELECT owner, subject_type, subject_id, time, max(request_id) AS request_id
  FROM all_feedback
  WHERE event = ${text(CLICK)} AND request_id IS NOT NULL AND owner IS NOT NULL
  GROUP BY owner, subject_type, subject_id, time
),
linked AS (
  SELECT request_id, event, subject_type, subject_id, time
  FROM all_feedback
  WHERE request_id IS NOT NULL AND event IN (${events})${attribute.map((one) => attributionSql(dialect, one)).join('')}
),
labels AS (
  SELECT request_id, subject_id AS candidate_id,
    max(CASE event ${grades} END) AS grade,
    bool_or(event = ${text(CLICK)}) AS is_clicked
  FROM linked JOIN requests USING (request_id)
  WHERE subject_type = candidate_type AND linked.time <= first_time + ${window}
  GROUP BY request_id, subject_id
)`;
}

/** The candidates, each once, with its grade. */
function labelledSql({ text }: SqlDialect, pipeline: string): string {
  return `-- Each candidate once: from a page where it was shown, otherwise from the first page. The sample of the first page
-- stands for all candidates that were not shown.
chosen AS (
  SELECT c.instance, c.sequence, c.request_id, c.candidate_id, c.place, c.weight, c.on_page,
    row_number() OVER (
      PARTITION BY c.request_id, c.candidate_id ORDER BY c.on_page DESC, p.page, c.sent_at
    ) AS choice
  FROM ledger_candidates c JOIN pages p ON c.instance = p.instance AND c.sequence = p.sequence
  WHERE c.pipeline = ${text(pipeline)} AND c.place > 0 AND (p.page = 1 OR c.on_page OR c.weight = 1)
),
labelled AS (
  SELECT instance, sequence, request_id, candidate_id, place, weight, on_page,
    coalesce(grade, 0) AS label, coalesce(is_clicked, false) AS is_clicked
  FROM chosen LEFT JOIN labels USING (request_id, candidate_id)
  WHERE choice = 1
)`;
}

/** The part of each request; null in the gap. */
function splitSql(
  { hash, starting }: SqlDialect,
  split: DataSetOptions['split'],
  gap: number,
  since: number,
  until: number,
): string {
  if (split.by === 'hash') {
    const key =
      split.type === 'request'
        ? 'request_id'
        : `coalesce(substr(${starting('entities', `${split.type}=`)}, ${split.type.length + 2}), request_id)`;
    return `-- The first 32 bits of the MD5 of a key say on which side it is.
parts AS (
  SELECT request_id, first_time,
    CASE WHEN ${hash(key)} * ${MILLION} < ${split.train} * 4294967296 THEN 'train' ELSE 'holdout' END AS part
  FROM requests
)`;
  }
  return `-- The time of the first request that is held out. Counts of minutes find it without an order of all requests.
in_time AS (
  SELECT time, floor(time / 60000) AS minute
  FROM pages
  WHERE time >= ${since} AND time < ${until} AND time <= (SELECT bound FROM latest)
),
minutes AS (
  SELECT minute, n, sum(n) OVER (ORDER BY minute) AS up_to, sum(n) OVER () AS of_all
  FROM (SELECT minute, count(*) AS n FROM in_time GROUP BY minute) counted
),
cut AS (
  SELECT coalesce(min(time), ${LATEST}) AS bound
  FROM (
    SELECT time, up_to - n + row_number() OVER (ORDER BY time) AS number, of_all
    FROM in_time JOIN minutes USING (minute)
    WHERE up_to * ${MILLION} > of_all * ${split.train} AND (up_to - n) * ${MILLION} <= of_all * ${split.train}
  ) numbered
  WHERE number * ${MILLION} > of_all * ${split.train}
),
parts AS (
  SELECT request_id, first_time,
    CASE WHEN first_time >= cut.bound THEN 'holdout' WHEN first_time < cut.bound - ${gap} THEN 'train' END AS part
  FROM requests CROSS JOIN cut
)`;
}

/** Feedback of a kind without a request, with the request of the last click that is not later. */
function attributionSql(
  { text }: SqlDialect,
  { event, window }: DataSetOptions['attribute'][number],
): string {
  return `
  UNION ALL
  SELECT c.request_id, f.event, f.subject_type, f.subject_id, f.time
  FROM (
    SELECT *, max(clicked) OVER (PARTITION BY owner, subject_type, subject_id ORDER BY time) AS last_clicked
    FROM (
      SELECT owner, subject_type, subject_id, time, time AS clicked, CAST(NULL AS STRING) AS event FROM clicks
      UNION ALL
      -- An event that was sent again: the first.
      SELECT owner, subject_type, subject_id, time, NULL AS clicked, event
      FROM (
        SELECT *, row_number() OVER (
          PARTITION BY owner, subject_type, subject_id, event_id, CASE WHEN event_id IS NULL THEN time END
          ORDER BY received, instance, sequence
        ) AS choice
        FROM all_feedback
        WHERE request_id IS NULL AND owner IS NOT NULL AND event = ${text(event)}
      ) sent
      WHERE choice = 1
    ) of_owner
  ) f JOIN clicks c
    ON f.owner = c.owner AND f.subject_type = c.subject_type AND f.subject_id = c.subject_id AND f.last_clicked = c.time
  WHERE f.event IS NOT NULL AND f.time - f.last_clicked <= ${window}`;
}
