import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { startService } from '../../runtime/serve/app/serve.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { mistakesIn } from '../../scripts/observe/metric.js';
import { ALERT_FAULTS } from '../prove/support/alert-faults.js';
import { MemoryStore } from '../support/memory-store.js';
import { repositoryPath } from '../support/repository.js';
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

describeWith('promtool', 'promtool', () => {
  it('accepts the configuration and the rules', () => {
    const said = execFileSync('promtool', [
      'check',
      'config',
      repositoryPath('deploy', 'prometheus', 'prometheus.yaml'),
    ]);
    expect(String(said)).to.match(/SUCCESS: \d+ rules found/);
  });

  it('accepts the metrics of a service', () =>
    withFiles({ 'pipelines/none.yaml': 'pipeline: none\nrank: product\ncomponents: []\n' }, async (root) => {
      const settings = loadSettings({ LOG_LEVEL: 'silent', PORT: '0' }, { project: root });
      const service = await startService(settings, { store: new MemoryStore() });
      try {
        const input = await (await fetch(`${service.url}/metrics`)).text();
        const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
        const own = `${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('millrace_'));
        expect(own).to.deep.equal([]);
        expect(`${stdout}${stderr}`).not.to.match(/error while linting|parse error/i);
      } finally {
        await service.close();
      }
    }));
});
