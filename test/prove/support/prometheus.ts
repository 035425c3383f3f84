import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { ruleFile, type Alert } from '../../../scripts/observe/alerts.js';
import { freePort } from '../../support/redis-server.js';
import { repositoryPath } from '../../support/repository.js';
import { untilItWorks } from '../../support/until.js';

const run = promisify(execFile);

export interface FiringAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

/** A Prometheus server that scrapes each second, with the alert rules sped up sixty times: a minute is a second. */
export interface PrivatePrometheus {
  /** Scrapes these services from now on, as the job `millrace`. */
  readonly watch: (urls: readonly string[]) => Promise<void>;
  alerts(): Promise<readonly FiringAlert[]>;
  /** Every sample so far of the metrics that an expression names, a minute for each second, as promtool reads them. */
  series(expression: string): Promise<RecordedSeries>;
  stop(): Promise<void>;
}

export interface RecordedSeries {
  /** The time of the first sample, in seconds since the epoch. */
  readonly first: number;
  readonly minutes: number;
  readonly series: readonly { readonly series: string; readonly values: string }[];
}

export async function startPrometheus(alerts: readonly Alert[]): Promise<PrivatePrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-prometheus-'));
  const port = await freePort();
  const targets = join(folder, 'targets.json');
  const watch = async (urls: readonly string[]): Promise<void> => {
    await writeFile(`${targets}.new`, JSON.stringify([{ targets: urls.map((url) => new URL(url).host) }]));
    await rename(`${targets}.new`, targets);
  };
  await watch([]);
  await writeFile(join(folder, 'rules.yaml'), stringify(ruleFile(alerts.map(faster))));
  await writeFile(
    join(folder, 'prometheus.yaml'),
    stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: [
        { job_name: 'millrace', file_sd_configs: [{ files: [targets], refresh_interval: '1s' }] },
      ],
    }),
  );
  const server = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const kill = (): void => void server.kill('SIGKILL');
  process.once('exit', kill);
  const ask = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    if (!answer.ok) throw new Error(`Prometheus answers ${answer.status} to ${path}`);
    return ((await answer.json()) as { readonly data: T }).data;
  };
  await untilItWorks(() => ask('status/runtimeinfo'));
  return {
    watch,
    alerts: async () => (await ask<{ readonly alerts: readonly FiringAlert[] }>('alerts')).alerts,
    async series(expression) {
      const names = new Set(expression.match(/\b(?:millrace_\w+|up)\b/g));
      const query = `{__name__=~"${[...names].join('|')}"}[10m]`;
      const { result } = await ask<{ readonly result: readonly Samples[] }>(
        `query?query=${encodeURIComponent(query)}`,
      );
      return inMinutes(result);
    },
    async stop() {
      process.off('exit', kill);
      server.kill('SIGKILL');
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The rule with seconds for minutes. */
function faster(alert: Alert): Alert {
  const expr = alert.expr.replace(/(\[|offset )(\d+)m/g, '$1$2s');
  return { ...alert, expr, for: alert.for.replace('m', 's') };
}

interface Samples {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: string])[];
}

function inMinutes(result: readonly Samples[]): RecordedSeries {
  const times = result.flatMap(({ values }) => values.map(([time]) => Math.round(time)));
  const first = Math.min(...times);
  const minutes = Math.max(...times) - first;
  const series = result.map(({ metric: { __name__: name = '', ...labels }, values }) => {
    const at = new Map(values.map(([time, value]) => [Math.round(time) - first, value]));
    const list = Array.from({ length: minutes + 1 }, (_, minute) => at.get(minute) ?? '_');
    const text = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
    return { series: `${name}{${text.join(', ')}}`, values: list.join(' ') };
  });
  return { first, minutes, series };
}

/**
 * Plays recorded samples to the committed rule file with promtool, and expects that the alert fires at the end and did not
 * fire in the minute before the fault.
 * @param faultAt seconds since the epoch
 * @throws Error with the output of promtool
 */
export async function playToRules(
  alert: string,
  { first, minutes, series }: RecordedSeries,
  faultAt: number,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-promtool-'));
  const firing = `(count(ALERTS{alertname="${alert}", alertstate="firing"}) > bool 0) or vector(0)`;
  const expect = (eval_time: string, value: number): object => ({
    expr: firing,
    eval_time,
    exp_samples: [{ labels: '{}', value }],
  });
  const file = join(folder, 'test.yaml');
  await writeFile(
    file,
    stringify({
      rule_files: [repositoryPath('deploy', 'prometheus', 'millrace-alerts.yaml')],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: series,
          promql_expr_test: [
            expect(`${Math.max(0, Math.floor(faultAt - first) - 1)}m`, 0),
            expect(`${minutes}m`, 1),
          ],
        },
      ],
    }),
  );
  try {
    await run('promtool', ['test', 'rules', file]);
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`promtool test rules: ${stdout}${stderr}`.trim(), { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
