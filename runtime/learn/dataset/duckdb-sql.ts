import { RANKING_NAMES } from '../../state/ledger/ranking-fields.js';
import { OWN_COLUMNS } from './features.js';
import { MILLION, type DataSetOptions } from './options.js';
import { CLICK } from './scan-ledger.js';

/** The columns of the compacted ledger that are not values of the pipeline. */
const OWN = {
  rankings: [...RANKING_NAMES.record, 'pipeline', 'pipeline_version', 'candidate_type', 'project', 'day'],
  candidates: [...RANKING_NAMES.candidate, 'request_id', 'time', 'pipeline', 'day'],
};

/** Without a bound: before and after all times. */
const EARLIEST = -8_640_000_000_000_000;
const LATEST = 8_640_000_000_000_000;

/**
 * SQL for DuckDB that makes the same rows as `buildDataSet` from the Parquet files of `ledger compact`: a view `data_set`
 * with a column `part`, and a statement for each file. Times are compared as epoch milliseconds.
 * @param ledger the folder that `ledger compact` wrote
 * @param out the folder of the data set; it must exist
 */
export function duckDbSql(
  ledger: string,
  out: string,
  options: DataSetOptions & { readonly pipeline: string },
): string {
  const { pipeline, window, examined, split, gap } = options;
  const since = Number.isFinite(options.since) ? options.since : EARLIEST;
  const until = Number.isFinite(options.until) ? options.until : LATEST;
  const lowest =
    examined.rule !== 'last_click'
      ? ''
      : ` AND place <= coalesce(max(CASE WHEN is_clicked THEN place END) OVER (PARTITION BY request_id), 0) + ${examined.further}`;
  return `-- The data set of ${pipeline}, joined by DuckDB over a compacted ledger.
CREATE OR REPLACE VIEW data_set AS
WITH
all_rankings AS (
  SELECT * REPLACE (epoch_ms(time) AS time)
  FROM ${parquet(ledger, 'rankings')}
),
all_feedback AS (
  SELECT * REPLACE (epoch_ms(time) AS time, epoch_ms(received) AS received)
  FROM ${parquet(ledger, 'feedback')}
),
-- The time of the last record: younger rankings than the window are left out.
latest AS (
  SELECT greatest((SELECT max(time) FROM all_rankings), (SELECT max(received) FROM all_feedback)) - ${window} AS bound
),
-- The pages of a request, in the order of their times.
pages AS (
  SELECT *,
    row_number() OVER (PARTITION BY request_id ORDER BY time, instance, sequence) AS page,
    min(time) OVER (PARTITION BY request_id) AS first_time
  FROM all_rankings
  WHERE pipeline = ${text(pipeline)} AND status = 'ok'
),
requests AS (
  SELECT request_id, first_time, candidate_type, entities
  FROM pages
  WHERE page = 1 AND first_time >= ${since} AND first_time < ${until} AND first_time <= (SELECT bound FROM latest)
),
${splitSql(split, gap, since, until)},
${labelsSql(options)},
${labelledSql(ledger, pipeline)},
examined AS (
  SELECT *, on_page${lowest} AS examined FROM labelled
),
candidate_values AS (
  SELECT candidate_id, COLUMNS(lambda name: ${valuesSql(OWN.candidates)})
  FROM ${parquet(ledger, 'candidates')}
  WHERE pipeline = ${text(pipeline)}
  -- The same candidate twice in one record: the first.
  QUALIFY row_number() OVER (PARTITION BY instance, sequence, candidate_id ORDER BY on_page DESC, sent_at) = 1
),
request_values AS (
  SELECT COLUMNS(lambda name: ${valuesSql(OWN.rankings)})
  FROM all_rankings
  WHERE pipeline = ${text(pipeline)}
  QUALIFY row_number() OVER (PARTITION BY instance, sequence) = 1
)
SELECT part, request_id, epoch_ms(first_time) AS time, candidate_id, place, label, weight, examined,
  r.* EXCLUDE (instance, sequence), c.* EXCLUDE (instance, sequence, candidate_id)
FROM examined
JOIN parts USING (request_id)
JOIN request_values r USING (instance, sequence)
JOIN candidate_values c USING (instance, sequence, candidate_id)
WHERE part IS NOT NULL;

${['train', 'holdout'].map((part) => copySql(part, out)).join('\n')}
`;
}

/** The grade of each candidate of a request that has feedback. */
function labelsSql({ label, attribute, window }: DataSetOptions): string {
  const grades = [...label].map(([event, grade]) => `WHEN ${text(event)} THEN ${grade}::DOUBLE`).join(' ');
  const events = [...new Set([...label.keys(), CLICK])].map(text).join(', ');
  return `-- Feedback with its request: by the request id, or by the last click of the same user on the same candidate.
clicks AS (
  SELECT "user", subject_type, subject_id, time, max(request_id) AS request_id
  FROM all_feedback
  WHERE event = ${text(CLICK)} AND request_id IS NOT NULL AND "user" IS NOT NULL
  GROUP BY ALL
),
linked AS (
  SELECT request_id, event, subject_type, subject_id, time
  FROM all_feedback
  WHERE request_id IS NOT NULL AND event IN (${events})${attributionSql(attribute)}
),
labels AS (
  SELECT request_id, subject_id AS candidate_id,
    max(CASE event ${grades} END) AS grade,
    bool_or(event = ${text(CLICK)}) AS is_clicked
  FROM linked JOIN requests USING (request_id)
  WHERE subject_type = candidate_type AND linked.time <= first_time + ${window}
  GROUP BY ALL
)`;
}

/** The candidates, each once, with its grade. */
function labelledSql(ledger: string, pipeline: string): string {
  return `-- Each candidate once: from a page where it was shown, otherwise from the first page. The sample of the first page
-- stands for all candidates that were not shown.
rows AS (
  SELECT instance, sequence, c.request_id, c.candidate_id, c.place, c.weight, c.on_page, p.page,
    row_number() OVER (
      PARTITION BY c.request_id, c.candidate_id ORDER BY c.on_page DESC, p.page, c.sent_at
    ) AS choice
  FROM ${parquet(ledger, 'candidates')} c JOIN pages p USING (instance, sequence)
  WHERE c.pipeline = ${text(pipeline)} AND c.place > 0 AND (p.page = 1 OR c.on_page OR c.weight = 1)
),
labelled AS (
  SELECT instance, sequence, request_id, candidate_id, place, weight, on_page,
    coalesce(grade, 0) AS label, coalesce(is_clicked, false) AS is_clicked
  FROM rows LEFT JOIN labels USING (request_id, candidate_id)
  WHERE choice = 1
)`;
}

/** The part of each request; null in the gap. */
function splitSql(split: DataSetOptions['split'], gap: number, since: number, until: number): string {
  if (split.by === 'hash') {
    const key =
      split.type === 'request'
        ? 'request_id'
        : `coalesce(list_filter(from_json(entities, '["VARCHAR"]'), lambda entity: starts_with(entity, ${text(`${split.type}=`)}))[1][${split.type.length + 2}:], request_id)`;
    return `-- The first 32 bits of the MD5 of a key say on which side it is.
parts AS (
  SELECT request_id, first_time,
    CASE
      WHEN ('0x' || md5(${key})[1:8])::UBIGINT * ${MILLION} < ${split.train} * 4294967296::UBIGINT THEN 'train'
      ELSE 'holdout'
    END AS part
  FROM requests
)`;
  }
  return `cut AS (
  SELECT coalesce(min(time), ${LATEST}) AS bound
  FROM (
    SELECT time, row_number() OVER (ORDER BY time) AS number, count(*) OVER () AS count
    FROM pages
    WHERE time >= ${since} AND time < ${until} AND time <= (SELECT bound FROM latest)
  )
  WHERE number > (count * ${split.train}) // ${MILLION}
),
parts AS (
  SELECT request_id, first_time,
    CASE WHEN first_time >= cut.bound THEN 'holdout' WHEN first_time < cut.bound - ${gap} THEN 'train' END AS part
  FROM requests, cut
)`;
}

function attributionSql(attribute: DataSetOptions['attribute']): string {
  return attribute
    .map(
      ({ event, window }) => `
  UNION ALL
  SELECT c.request_id, f.event, f.subject_type, f.subject_id, f.time
  FROM (
    SELECT * FROM all_feedback
    WHERE request_id IS NULL AND event = ${text(event)}
    -- An event that was sent again: the first.
    QUALIFY row_number() OVER (
      PARTITION BY "user", subject_type, subject_id, event_id, CASE WHEN event_id IS NULL THEN time END
      ORDER BY received, instance, sequence
    ) = 1
  ) f ASOF JOIN clicks c
    ON f."user" = c."user" AND f.subject_type = c.subject_type AND f.subject_id = c.subject_id AND f.time >= c.time
  WHERE f.time - c.time <= ${window}`,
    )
    .join('');
}

/** A condition on the name of a column: the keys, and what is not a field of Millrace's own. */
function valuesSql(fields: readonly string[]): string {
  return `name NOT IN (${fields.map(text).join(', ')}) AND NOT ends_with(name, '#status')`;
}

function copySql(part: string, out: string): string {
  const columns = OWN_COLUMNS.slice(0, 1).join(', ');
  return `COPY (SELECT * EXCLUDE (part) FROM data_set WHERE part = '${part}' ORDER BY time, ${columns}, place) TO ${text(`${out}/${part}.parquet`)} (FORMAT parquet);`;
}

function parquet(ledger: string, table: string): string {
  return `read_parquet(${text(`${ledger}/${table}/**/*.parquet`)}, union_by_name = true, hive_partitioning = true, hive_types_autocast = false)`;
}

/** A text in SQL. */
function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
