import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { parse } from 'yaml';
import { STORE_WARNINGS } from '../../runtime/state/store/store-monitor.js';
import { startService } from '../../runtime/serve/app/serve.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { registeredMetrics } from '../../scripts/metric-registry.js';
import { mistakesIn } from '../../scripts/observe/metric.js';
import { ALERT_FAULTS } from '../prove/support/alert-faults.js';
import { makeCertificates } from '../support/certificates.js';
import { millrace } from '../support/command-line.js';
import { MemoryStore } from '../support/memory-store.js';
import { startRedisServer } from '../support/redis-server.js';
import { repositoryPath } from '../support/repository.js';
import { startProcess } from '../support/service-process.js';
import { describeWith } from '../support/needs.js';
import { withFiles } from '../support/temporary-files.js';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

const FILES = {
  'pipelines/plain.yaml':
    'pipeline: plain\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n',
};
const RULES = repositoryPath('deploy', 'prometheus', 'millrace-alerts.yaml');

describe('the alert rules', () => {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);

  for (const { alert, expr } of rules)
    it(`${alert} names only metrics and labels that exist`, () => expect(mistakesIn(expr)).to.deep.equal([]));

  it('link to a section of docs/runbooks.md', () => {
    const page = readFileSync(repositoryPath('docs', 'runbooks.md'), 'utf8');
    const anchors = [...page.matchAll(/^## (.+)$/gm)].map(
      ([, title = '']) => `docs/runbooks.md#${title.toLowerCase().replaceAll(' ', '-')}`,
    );
    for (const { annotations } of rules) expect(anchors).to.include(annotations.runbook);
  });

  it('have one for each warning of the store', () => {
    for (const code of Object.keys(STORE_WARNINGS))
      expect(
        rules.filter(({ expr }) => expr.includes(`millrace_store_warnings{code="${code}"}`)),
        code,
      ).to.have.length(1);
  });

  it('have a fault each, which `npm run prove -- alerts` makes', () => {
    const proved = ALERT_FAULTS.flatMap(({ alerts }) => alerts);
    expect([...proved].sort()).to.deep.equal(rules.map(({ alert }) => alert).sort());
  });
});

describe('the dashboard', () => {
  const { panels } = JSON.parse(
    readFileSync(repositoryPath('deploy', 'grafana', 'dashboards', 'millrace.json'), 'utf8'),
  ) as Dashboard;

  for (const { title, targets = [] } of panels)
    it(`the panel "${title}" names only metrics and labels that exist`, () =>
      expect(targets.flatMap(({ expr }) => mistakesIn(expr))).to.deep.equal([]));
});

describe('the check of expressions', () => {
  it('reports a metric that does not exist, also a histogram without its suffix', () => {
    expect(mistakesIn('millrace_store_upp == 0')).to.deep.equal(['no metric millrace_store_upp']);
    expect(mistakesIn('rate(millrace_queue_duration_seconds[5m])')).to.have.length(1);
    expect(mistakesIn('rate(millrace_queue_duration_seconds_bucket[5m])')).to.deep.equal([]);
  });

  it('reports a label that the metric does not have', () => {
    expect(mistakesIn('millrace_requests_shed_total{clas="ranking"}')).to.have.length(1);
    expect(mistakesIn('sum by (step) (rate(millrace_requests_shed_total[5m]))')).to.have.length(1);
    expect(mistakesIn('sum by (job, cause) (rate(millrace_requests_shed_total[5m]))')).to.deep.equal([]);
  });
});

/** What `promtool check metrics` says about a text of /metrics. */
function complaintsOf(input: string): string {
  const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
  return `${stdout}${stderr}`.trim();
}

describeWith('promtool', 'promtool', () => {
  it('accepts the configuration and the rules', () => {
    const said = execFileSync('promtool', [
      'check',
      'config',
      repositoryPath('deploy', 'prometheus', 'prometheus.yaml'),
    ]);
    expect(String(said)).to.match(/SUCCESS: \d+ rules found/);
  });

  it('accepts every metric that a service can have', () => {
    const samples = registeredMetrics().map(({ name, help, type, labelNames }) => {
      const sample = (suffix: string, ...labels: string[]): string =>
        `${name}${suffix}{${[...labelNames.map((label) => `${label}="x"`), ...labels].join()}} 1\n`;
      const values =
        type === 'histogram'
          ? sample('_bucket', 'le="+Inf"') + sample('_sum') + sample('_count')
          : sample('');
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${values}`;
    });
    expect(samples.length).to.be.greaterThan(50);
    expect(complaintsOf(samples.join(''))).to.equal('');
    expect(complaintsOf('# HELP a_total A.\n# TYPE a_total gauge\na_total 1\n')).not.to.equal('');
  });

  it('accepts the metrics of a service', () =>
    withFiles(FILES, async (root) => {
      const settings = loadSettings({ LOG_LEVEL: 'silent', PORT: '0' }, { project: root });
      const service = await startService(settings, { store: new MemoryStore() });
      try {
        expect(complaintsOf(await (await fetch(`${service.url}/metrics`)).text())).to.equal('');
      } finally {
        await service.close();
      }
    }));
});

describeWith(['promtool', 'openssl', 'redis-server'], 'promtool, over a service with all metrics', () => {
  it('accepts those of workers with TLS, keys and a second listener', () =>
    withFiles(FILES, async (root) => {
      const file = (name: string): string => join(root, name);
      await makeCertificates(file);
      const made = await millrace([
        'keys',
        'create',
        'probe',
        '--scope',
        'metrics',
        '--keys-file',
        file('keys.json'),
      ]);
      const redis = await startRedisServer();
      const service = await startProcess(['--project', root, '--port', '0', '--workers', '2'], {
        REDIS_URL: redis.url,
        MILLRACE_KEYS: file('keys.json'),
        MILLRACE_TLS_CERT: file('server.pem'),
        MILLRACE_TLS_KEY: file('server.key'),
        MILLRACE_ADMIN_PORT: '0',
        MILLRACE_LAME_DUCK_MS: '0',
      });
      try {
        const key = made.stdout.trim();
        const ca = readFileSync(file('ca.pem'));
        const text = await new Promise<string>((resolve, reject) => {
          const admin = String(service.lines.at(-1)?.['admin_url']);
          const headers = { authorization: `Bearer ${key}` };
          get(`${admin}/metrics`, { ca, headers, agent: false }, (answer) => {
            let body = '';
            answer.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
            answer.once('end', () => resolve(body));
          }).once('error', reject);
        });
        const served = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
        expect(served).to.have.members(registeredMetrics().map(({ name }) => name));
        expect(complaintsOf(text)).to.equal('');
      } finally {
        service.child.kill('SIGKILL');
        await service.ended;
        await redis.remove();
      }
    }));
});
