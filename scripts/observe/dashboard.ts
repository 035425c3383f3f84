/** A panel: what it shows, and one expression for each kind of line. */
interface Panel {
  readonly title: string;
  readonly description: string;
  readonly unit: 's' | 'reqps' | 'short' | 'percentunit' | 'bytes' | 'bool' | 'dateTimeAsIso';
  /** PromQL → the name of its lines. */
  readonly lines: Readonly<Record<string, string>>;
  readonly type?: 'timeseries' | 'stat' | 'table';
}

const SELECTED = 'job="$job", instance=~"$instance"';
const of = (series: string, more = ''): string => `${series}{${SELECTED}${more === '' ? '' : `, ${more}`}}`;
const rate = (series: string, by: string, more = ''): string =>
  `sum by (${by}) (rate(${of(series, more)}[$__rate_interval]))`;
const quantile = (q: number, histogram: string, by: string): string =>
  `histogram_quantile(${q}, ${rate(`${histogram}_bucket`, `${by === '' ? '' : `${by}, `}le`)})`;

const ROWS: Readonly<Record<string, readonly Panel[]>> = {
  'Is it well?': [
    {
      title: 'Store ready',
      description: '1 while the store answers and accepts writes.',
      unit: 'bool',
      type: 'stat',
      lines: { [`min by (instance) (${of('millrace_store_ready')})`]: '{{instance}}' },
    },
    {
      title: 'Build and project',
      description: 'One line for each version that is in service.',
      unit: 'short',
      type: 'stat',
      lines: {
        [`count by (version, node, project) (${of('millrace_build_info')})`]:
          'Millrace {{version}}, Node {{node}}, project {{project}}',
      },
    },
    {
      title: 'Last reload',
      description: '1 if the last reload succeeded or there was none.',
      unit: 'bool',
      type: 'stat',
      lines: { [`min by (instance) (${of('millrace_last_reload_successful')})`]: '{{instance}}' },
    },
    {
      title: 'Warnings about the store',
      description: 'docs/redis.md explains each code.',
      unit: 'short',
      lines: { [`max by (code) (${of('millrace_store_warnings')})`]: '{{code}}' },
    },
  ],
  Requests: [
    {
      title: 'Requests',
      description: 'By route and status; 499: the client disconnected.',
      unit: 'reqps',
      lines: { [rate('millrace_http_requests_total', 'route, status')]: '{{route}} {{status}}' },
    },
    {
      title: 'Time of a request, 50 % and 99 %',
      description: 'From the head of the request to the end of the answer.',
      unit: 's',
      lines: {
        [quantile(0.5, 'millrace_http_request_duration_seconds', 'route')]: '{{route}} 50 %',
        [quantile(0.99, 'millrace_http_request_duration_seconds', 'route')]: '{{route}} 99 %',
      },
    },
    {
      title: 'Refused requests',
      description: 'Shed because of an overload, by class and cause.',
      unit: 'reqps',
      lines: { [rate('millrace_requests_shed_total', 'class, cause')]: '{{class}} {{cause}}' },
    },
    {
      title: 'Queue time, 99 %',
      description: 'How long admitted requests waited for the CPU.',
      unit: 's',
      lines: { [quantile(0.99, 'millrace_queue_duration_seconds', 'class')]: '{{class}}' },
    },
    {
      title: 'Requests in flight',
      description: 'Admitted and not answered, and those of them that wait for the CPU.',
      unit: 'short',
      lines: {
        [`sum by (class) (${of('millrace_requests_in_flight')})`]: '{{class}}',
        [`sum (${of('millrace_requests_waiting')})`]: 'waiting',
      },
    },
    {
      title: 'Connections',
      description: 'Open connections, and those that were closed because of a limit.',
      unit: 'short',
      lines: {
        [`sum by (instance) (${of('millrace_connections')})`]: '{{instance}}',
        [rate('millrace_connections_closed_total', 'cause')]: 'closed a second: {{cause}}',
      },
    },
  ],
  Pipelines: [
    {
      title: 'Time of each stage, 99 %',
      description: 'Where the time of a ranking goes.',
      unit: 's',
      lines: {
        [quantile(0.99, 'millrace_pipeline_stage_duration_seconds', 'pipeline, stage')]:
          '{{pipeline}} {{stage}}',
      },
    },
    {
      title: 'Time of each step, 99 %',
      description: 'Which step takes the time of the stage components.',
      unit: 's',
      lines: {
        [quantile(0.99, 'millrace_pipeline_step_duration_seconds', 'pipeline, step')]:
          '{{pipeline}} {{step}}',
      },
    },
    {
      title: 'Candidates in a request, 50 % and 99 %',
      description: 'The cost of a ranking grows with its candidates.',
      unit: 'short',
      lines: {
        [quantile(0.5, 'millrace_pipeline_candidates', 'pipeline')]: '{{pipeline}} 50 %',
        [quantile(0.99, 'millrace_pipeline_candidates', 'pipeline')]: '{{pipeline}} 99 %',
      },
    },
    {
      title: 'Degraded answers and skipped steps',
      description: 'docs/http.md lists the causes.',
      unit: 'reqps',
      lines: {
        [rate('millrace_pipeline_degraded_total', 'pipeline, cause')]: '{{pipeline}} {{cause}}',
        [rate('millrace_pipeline_skipped_steps_total', 'pipeline, step')]: '{{pipeline}} skips {{step}}',
      },
    },
    {
      title: 'Calls to model servers',
      description: 'By outcome.',
      unit: 'reqps',
      lines: {
        [rate('millrace_outbound_requests_total', 'pipeline, step, outcome')]: '{{step}} {{outcome}}',
      },
    },
    {
      title: 'Time of a call to a model server, 99 %',
      description: 'From the wait for a connection to the end of the answer.',
      unit: 's',
      lines: { [quantile(0.99, 'millrace_outbound_request_duration_seconds', 'pipeline, step')]: '{{step}}' },
    },
  ],
  Data: [
    {
      title: 'Reads of views of other systems',
      description: 'By outcome.',
      unit: 'reqps',
      lines: { [rate('millrace_view_reads_total', 'view, outcome')]: '{{view}} {{outcome}}' },
    },
    {
      title: 'Feature values that are not present',
      description: 'Share of the values of each view, by status.',
      unit: 'percentunit',
      lines: {
        [`${rate('millrace_feature_values_total', 'view, status', 'status!="present"')} / on (view) group_left () ${rate('millrace_feature_values_total', 'view')}`]:
          '{{view}} {{status}}',
      },
    },
    {
      title: 'Missing entities',
      description: 'Entities that rankings looked up and that are not in the index.',
      unit: 'reqps',
      lines: { [rate('millrace_missing_entities_total', 'entity_type')]: '{{entity_type}}' },
    },
    {
      title: 'Round trips to the store for one ranking',
      description: 'As many as the pipeline has levels of references, unless the cache answers.',
      unit: 'short',
      lines: {
        [`${rate('millrace_pipeline_store_round_trips_total', 'pipeline')} / ${rate('millrace_pipeline_candidates_count', 'pipeline')}`]:
          '{{pipeline}}',
      },
    },
    {
      title: 'Cache hits',
      description: 'Share of the requested rows that were cached in the process.',
      unit: 'percentunit',
      lines: {
        [`${rate('millrace_resident_hits_total', 'entity_type')} / (${rate('millrace_resident_hits_total', 'entity_type')} + ${rate('millrace_resident_misses_total', 'entity_type')} + ${rate('millrace_resident_bypasses_total', 'entity_type')})`]:
          '{{entity_type}}',
      },
    },
    {
      title: 'Feedback events',
      description: 'By outcome.',
      unit: 'reqps',
      lines: { [rate('millrace_feedback_events_total', 'type, outcome')]: '{{type}} {{outcome}}' },
    },
    {
      title: 'Memory of Redis',
      description: 'Share of maxmemory, on the fullest server.',
      unit: 'percentunit',
      lines: { [`max (${of('millrace_store_memory_used_ratio')})`]: 'used' },
    },
  ],
  Process: [
    {
      title: 'CPU',
      description: 'Seconds a second; one process uses about one core.',
      unit: 'short',
      lines: { [rate('process_cpu_seconds_total', 'instance')]: '{{instance}}' },
    },
    {
      title: 'Event loop delay, 50 % and 99 %',
      description: 'How late a timer runs.',
      unit: 's',
      lines: {
        [quantile(0.5, 'millrace_event_loop_delay_seconds', 'instance')]: '{{instance}} 50 %',
        [quantile(0.99, 'millrace_event_loop_delay_seconds', 'instance')]: '{{instance}} 99 %',
      },
    },
    {
      title: 'Memory',
      description: 'Resident memory, and the memory of the cached entities.',
      unit: 'bytes',
      lines: {
        [`sum by (instance) (${of('process_resident_memory_bytes')})`]: '{{instance}}',
        [`sum by (instance) (${of('millrace_resident_bytes')})`]: '{{instance}} cached entities',
      },
    },
    {
      title: 'Heap',
      description: 'Share of the heap limit of Node.',
      unit: 'percentunit',
      lines: { [`max by (instance) (${of('millrace_heap_used_ratio')})`]: '{{instance}}' },
    },
    {
      title: 'Workers',
      description: 'Ready workers, and restarts after a crash.',
      unit: 'short',
      lines: {
        [`sum by (instance) (${of('millrace_workers_ready')})`]: '{{instance}} ready',
        [`sum by (instance) (increase(${of('millrace_worker_restarts_total')}[$__rate_interval]))`]:
          '{{instance}} restarts',
      },
    },
    {
      title: 'Uncaught errors of plugins',
      description: 'The log names the plugin and the error.',
      unit: 'reqps',
      lines: { [rate('millrace_plugin_stray_errors_total', 'plugin, kind')]: '{{plugin}} {{kind}}' },
    },
  ],
};

const WIDTH = 24;
const HEIGHT = 8;
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** Returns the dashboard as Grafana imports it. */
export function dashboard(): object {
  const panels: object[] = [];
  let y = 0;
  for (const [title, row] of Object.entries(ROWS)) {
    panels.push({
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y: y++, w: WIDTH, h: 1 },
      panels: [],
    });
    const perLine = row.length % 3 === 0 ? 3 : 2;
    row.forEach((panel, i) => {
      const w = WIDTH / perLine;
      panels.push(
        panelOf(panel, { x: (i % perLine) * w, y: y + Math.floor(i / perLine) * HEIGHT, w, h: HEIGHT }),
      );
    });
    y += Math.ceil(row.length / perLine) * HEIGHT;
  }
  return {
    uid: 'millrace',
    title: 'Millrace',
    description: 'Generated by npm run generate. Change scripts/observe/dashboard.ts, not this file.',
    tags: ['millrace'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    time: { from: 'now-1h', to: 'now' },
    refresh: '30s',
    templating: { list: [datasourceVariable(), ...['job', 'instance'].map(labelVariable)] },
    panels: panels.map((panel, i) => ({ id: i + 1, ...panel })),
  };
}

function panelOf({ title, description, unit, lines, type = 'timeseries' }: Panel, gridPos: object): object {
  return {
    type,
    title,
    description,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options:
      type === 'stat'
        ? { textMode: 'value_and_name', colorMode: 'none' }
        : { legend: { displayMode: 'list' } },
    targets: Object.entries(lines).map(([expr, legendFormat], i) => ({
      refId: String.fromCharCode(65 + i),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  };
}

function datasourceVariable(): object {
  return { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', hide: 0 };
}

function labelVariable(label: string): object {
  const query = `label_values(millrace_build_info${label === 'job' ? '' : '{job="$job"}'}, ${label})`;
  return {
    name: label,
    label: label === 'job' ? 'Job' : 'Instance',
    type: 'query',
    datasource: DATASOURCE,
    query: { query, refId: label },
    refresh: 2,
    ...(label === 'job' ? {} : { includeAll: true, multi: true, allValue: '.*' }),
  };
}
