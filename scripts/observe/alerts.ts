/** An alert rule. `npm run generate` writes all of them to deploy/prometheus/millrace-alerts.yaml. */
export interface Alert {
  readonly name: string;
  /** The condition, in PromQL. */
  readonly expr: string;
  /** How long the condition holds before the alert fires. */
  readonly for: string;
  /** critical: clients get errors or no answers now; warning: it gets worse, or answers are less good. */
  readonly severity: 'critical' | 'warning';
  /** One line, with the labels of the alert as `{{ $labels.NAME }}`. */
  readonly summary: string;
  /** The heading of docs/runbooks.md that says what to do. */
  readonly runbook: string;
}

const EACH = 'job, instance';
const rate = (series: string, by = EACH): string => `sum by (${by}) (rate(${series}[5m]))`;
const requests = rate('millrace_http_requests_total');
const rankings = (by = EACH): string => rate('millrace_pipeline_candidates_count', by);

export const ALERTS: readonly Alert[] = [
  {
    name: 'MillraceDown',
    expr: 'up{job="millrace"} == 0',
    for: '1m',
    severity: 'critical',
    summary: '{{ $labels.instance }} does not answer /metrics.',
    runbook: 'An instance is down',
  },
  {
    name: 'MillraceStoreNotReady',
    expr: 'millrace_store_ready == 0',
    for: '1m',
    severity: 'critical',
    summary: 'The store of {{ $labels.instance }} does not answer, or refuses writes.',
    runbook: 'Lost Redis',
  },
  {
    name: 'MillraceRequestsFail',
    expr: `${rate('millrace_http_requests_total{status=~"5..", status!="503"}')} / ${requests} > 0.01`,
    for: '5m',
    severity: 'critical',
    summary: '{{ $value | humanizePercentage }} of the requests to {{ $labels.instance }} fail.',
    runbook: 'Requests fail',
  },
  {
    name: 'MillraceSheds',
    expr: `${rate('millrace_requests_shed_total')} / ${requests} > 0.01`,
    for: '5m',
    severity: 'critical',
    summary:
      '{{ $labels.instance }} refuses {{ $value | humanizePercentage }} of its requests: it is overloaded.',
    runbook: 'Overload',
  },
  {
    name: 'MillraceConnectionsRefused',
    expr:
      `sum by (${EACH}) (increase(millrace_requests_shed_total{cause="connections"}[5m])) > 0 or ` +
      `sum by (${EACH}) (increase(millrace_connections_closed_total{cause="refused"}[5m])) > 0`,
    for: '1m',
    severity: 'critical',
    summary: '{{ $labels.instance }} has no place for new connections: MILLRACE_MAX_CONNECTIONS is reached.',
    runbook: 'Overload',
  },
  {
    name: 'MillraceDegraded',
    expr:
      `${rate('millrace_pipeline_degraded_total', `${EACH}, pipeline, cause`)} / on (${EACH}, pipeline) group_left () ` +
      `${rankings(`${EACH}, pipeline`)} > 0.05`,
    for: '5m',
    severity: 'warning',
    summary:
      '{{ $value | humanizePercentage }} of the answers of {{ $labels.pipeline }} are degraded: {{ $labels.cause }}.',
    runbook: 'Degraded answers',
  },
  {
    name: 'MillraceStepSlow',
    expr:
      `histogram_quantile(0.99, ${rate('millrace_pipeline_step_duration_seconds_bucket', `${EACH}, pipeline, step, le`)}) ` +
      '> 0.05',
    for: '5m',
    severity: 'warning',
    summary:
      'The step {{ $labels.step }} of {{ $labels.pipeline }} takes {{ $value | humanizeDuration }} (99th percentile).',
    runbook: 'A step is slow',
  },
  {
    name: 'MillraceEventLoopBlocked',
    expr:
      `sum by (${EACH}) (increase(millrace_event_loop_delay_seconds_count[5m])) - ` +
      `sum by (${EACH}) (increase(millrace_event_loop_delay_seconds_bucket{le="0.25"}[5m])) > 3`,
    for: '2m',
    severity: 'warning',
    summary: 'The event loop of {{ $labels.instance }} was blocked for more than 0.25 s several times.',
    runbook: 'The event loop is blocked',
  },
  {
    name: 'MillraceHeapFull',
    expr: 'min_over_time(millrace_heap_used_ratio[5m]) > 0.85',
    for: '2m',
    severity: 'critical',
    summary: '{{ $labels.instance }} uses {{ $value | humanizePercentage }} of its heap limit.',
    runbook: 'Memory is nearly full',
  },
  {
    name: 'MillraceStoreMemoryFull',
    expr: 'millrace_store_memory_used_ratio > 0.85',
    for: '5m',
    severity: 'critical',
    summary: 'Redis uses {{ $value | humanizePercentage }} of its maxmemory.',
    runbook: 'Memory is nearly full',
  },
  {
    name: 'MillraceStoreEvicts',
    expr: 'millrace_store_warnings{code="store_evicts"} > 0',
    for: '1m',
    severity: 'warning',
    summary: 'Redis may evict entities and features: its maxmemory-policy is not noeviction.',
    runbook: 'Redis evicts keys',
  },
  {
    name: 'MillraceStoreEmptied',
    expr: 'millrace_store_warnings{code="store_emptied"} > 0',
    for: '1m',
    severity: 'critical',
    summary: 'The store of {{ $labels.instance }} had entities or features, and has none now.',
    runbook: 'Redis came back empty',
  },
  {
    name: 'MillraceReloadFailed',
    expr: 'millrace_last_reload_successful == 0',
    for: '1m',
    severity: 'warning',
    summary: '{{ $labels.instance }} could not load the new project, and serves the previous one.',
    runbook: 'A reload failed',
  },
  {
    name: 'MillraceModelDisagrees',
    expr: 'millrace_model_agreement < 0.3',
    for: '2m',
    severity: 'warning',
    summary:
      'The new model of {{ $labels.pipeline }} and the one before agree by {{ $value | humanize }} (1: alike, 0: by chance).',
    runbook: 'A new model ranks otherwise',
  },
  {
    name: 'MillraceRollbackPending',
    expr: 'millrace_rollback_pending == 1',
    for: '1m',
    severity: 'critical',
    summary: 'The service is rolled back, and {{ $labels.instance }} cannot serve that release.',
    runbook: 'A rollback does not reach an instance',
  },
  {
    name: 'MillraceCurationRefused',
    expr: 'millrace_curation_refused == 1',
    for: '1m',
    severity: 'warning',
    summary:
      'The new rules of {{ $labels.list }} ({{ $labels.source }}) have errors: {{ $labels.instance }} serves the older ones.',
    runbook: 'New rules are refused',
  },
  {
    name: 'MillraceCurationStale',
    expr: 'millrace_curation_stale == 1',
    for: '2m',
    severity: 'warning',
    summary: '{{ $labels.instance }} cannot read the stored rules of curation, and serves the older ones.',
    runbook: 'New rules are refused',
  },
  {
    name: 'MillraceVersionsDiffer',
    expr: 'count by (job) (count by (job, version) (millrace_project_info)) > 1',
    for: '15m',
    severity: 'warning',
    summary: 'Instances of {{ $labels.job }} serve {{ $value }} versions of the project.',
    runbook: 'Rolling deployment',
  },
  {
    name: 'MillraceSchemasDiffer',
    expr: 'millrace_store_warnings{code="schemas_differ"} > 0',
    for: '15m',
    severity: 'warning',
    summary: 'Another service uses the same prefix of the store with other schemas.',
    runbook: 'Schema change',
  },
  {
    name: 'MillraceSettingsDiffer',
    expr: 'millrace_store_warnings{code="settings_differ"} > 0',
    for: '15m',
    severity: 'warning',
    summary: 'Instances on one store have different values of settings that they share.',
    runbook: 'Settings that differ',
  },
  {
    name: 'MillraceValuesMisfit',
    expr: 'millrace_store_warnings{code="values_misfit"} > 0',
    for: '15m',
    severity: 'warning',
    summary: 'Stored values do not fit the schemas of the project.',
    runbook: 'Schema change',
  },
  {
    name: 'MillraceEntitiesMissing',
    expr: `${rate('millrace_missing_entities_total')} / ${rate('millrace_pipeline_candidates_sum')} > 0.5`,
    for: '5m',
    severity: 'warning',
    summary: 'Half of the entities that rankings on {{ $labels.instance }} look up are not in the index.',
    runbook: 'Restore',
  },
  {
    name: 'MillraceFeaturesMissing',
    expr:
      `${rate('millrace_feature_values_total{status!="present"}', `${EACH}, view`)} / ` +
      `${rate('millrace_feature_values_total', `${EACH}, view`)} > 0.5`,
    for: '5m',
    severity: 'warning',
    summary:
      '{{ $value | humanizePercentage }} of the values of the view {{ $labels.view }} are missing or old.',
    runbook: 'Restore',
  },
  {
    name: 'MillraceCacheBypassed',
    expr: `millrace_resident_current == 0 and on (${EACH}) millrace_store_ready == 1`,
    for: '5m',
    severity: 'warning',
    summary: '{{ $labels.instance }} reads every entity from Redis: its cache gets no invalidations.',
    runbook: 'The cache is bypassed',
  },
  {
    name: 'MillraceModelServerFails',
    expr:
      `${rate('millrace_outbound_requests_total{outcome!~"2xx|given_up"}', `${EACH}, pipeline, step`)} / ` +
      `${rate('millrace_outbound_requests_total', `${EACH}, pipeline, step`)} > 0.05`,
    for: '5m',
    severity: 'warning',
    summary:
      '{{ $value | humanizePercentage }} of the calls of the step {{ $labels.step }} of {{ $labels.pipeline }} fail.',
    runbook: 'A model server fails',
  },
  {
    name: 'MillraceReaderFails',
    expr:
      `${rate('millrace_view_reads_total{outcome=~"partial|late|failed"}', `${EACH}, view`)} / ` +
      `${rate('millrace_view_reads_total{outcome!="kept"}', `${EACH}, view`)} > 0.05`,
    for: '5m',
    severity: 'warning',
    summary:
      '{{ $value | humanizePercentage }} of the reads of the view {{ $labels.view }} fail, are late, or are partial.',
    runbook: 'A reader fails',
  },
  {
    name: 'MillracePluginErrors',
    // The second part is for the first error: `increase` needs an earlier sample of the same series.
    expr:
      `sum by (${EACH}, plugin) (increase(millrace_plugin_stray_errors_total[15m])) > 0 or ` +
      `sum by (${EACH}, plugin) (millrace_plugin_stray_errors_total unless millrace_plugin_stray_errors_total offset 15m) > 0`,
    for: '0m',
    severity: 'warning',
    summary: 'The plugin {{ $labels.plugin }} throws errors that it does not catch.',
    runbook: 'Requests fail',
  },
  {
    name: 'MillraceLedgerDrops',
    expr: `${rate('millrace_ledger_dropped_records_total', `${EACH}, sink, reason`)} > 0`,
    for: '1m',
    severity: 'warning',
    summary: 'The sink {{ $labels.sink }} of {{ $labels.instance }} loses records: {{ $labels.reason }}.',
    runbook: 'Records are lost',
  },
  {
    name: 'MillraceWorkersRestart',
    expr: `sum by (${EACH}) (increase(millrace_worker_restarts_total[15m])) > 2`,
    for: '0m',
    severity: 'critical',
    summary: 'Workers of {{ $labels.instance }} crash again and again.',
    runbook: 'An instance is down',
  },
];

/** Returns the rule file of Prometheus as data. */
export function ruleFile(alerts: readonly Alert[] = ALERTS): object {
  const rules = alerts.map((alert) => ({
    alert: alert.name,
    expr: alert.expr,
    for: alert.for,
    labels: { severity: alert.severity },
    annotations: { summary: alert.summary, runbook: `docs/runbooks.md#${anchorOf(alert.runbook)}` },
  }));
  return { groups: [{ name: 'millrace', rules }] };
}

/** The anchor of a heading on GitHub. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}
