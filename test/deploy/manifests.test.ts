import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import { loadSettings, SETTINGS } from '../../runtime/project/settings/settings.js';
import { routesOf } from '../../runtime/serve/http/routes.js';
import { metricOf } from '../../scripts/observe/metric.js';
import { repositoryPath } from '../support/repository.js';

type Json = Readonly<Record<string, unknown>>;
interface Container {
  readonly image: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly securityContext: Json;
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold: number;
}
interface Deployment {
  readonly spec: {
    readonly selector: { readonly matchLabels: Json };
    readonly template: {
      readonly metadata: { readonly labels: Json };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: Json;
        readonly containers: readonly [Container];
        readonly volumes: readonly {
          readonly name: string;
          readonly emptyDir?: { readonly sizeLimit: string };
        }[];
      };
    };
  };
}

interface Scaler {
  readonly spec: {
    readonly metrics: readonly { readonly pods: { readonly metric: { readonly name: string } } }[];
  };
}

interface JobSpec {
  readonly podFailurePolicy: {
    readonly rules: readonly [
      { readonly onExitCodes: { readonly containerName: string; readonly values: readonly number[] } },
    ];
  };
  readonly template: {
    readonly metadata: { readonly labels: Json };
    readonly spec: {
      readonly restartPolicy: string;
      readonly securityContext: Json;
      readonly containers: readonly [
        Container & { readonly name: string; readonly command: readonly string[] },
      ];
      readonly volumes: readonly { readonly name: string }[];
    };
  };
}

const text = readFileSync(repositoryPath('deploy', 'kubernetes', 'millrace.yaml'), 'utf8');
const documents = parseAllDocuments(text).map((document) => document.toJS() as Json & { kind: string });
const ofKind = (kind: string): unknown => documents.find((one) => one.kind === kind);

/** CI also checks the fields of every manifest against the schemas of Kubernetes. */
describe('the Kubernetes manifests', () => {
  const { spec } = ofKind('Deployment') as Deployment;
  const pod = spec.template.spec;
  const [container] = pod.containers;
  const valueOf = (name: string): number => Number(container.env.find((one) => one.name === name)?.value);

  it('set only settings that exist', () => {
    const known = Object.values(SETTINGS).map(({ env }) => env);
    expect(container.env.map(({ name }) => name).filter((name) => !known.includes(name))).to.deep.equal([]);
  });

  it('probe routes that exist, at the port of the container', () => {
    const paths = routesOf([]).map(({ path }) => path);
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      expect(paths).to.include(probe.httpGet.path);
      expect(container.ports.map(({ name }) => name)).to.include(probe.httpGet.port);
    }
    expect(container.livenessProbe.httpGet.path).to.equal('/healthz');
    expect(readFileSync(repositoryPath('Dockerfile'), 'utf8')).to.match(
      new RegExp(`PORT=${container.ports[0]?.containerPort}\\b`),
    );
  });

  it('notice the lame duck before it ends, and wait for the whole shutdown', () => {
    const { periodSeconds, timeoutSeconds = 1, failureThreshold } = container.readinessProbe;
    const lameDuck = valueOf('MILLRACE_LAME_DUCK_MS') / 1000;
    expect(periodSeconds * failureThreshold + timeoutSeconds).to.be.lessThan(lameDuck);
    // The process ends at the latest 5 s after both times.
    const longest = lameDuck + valueOf('MILLRACE_DRAIN_MS') / 1000 + 5;
    expect(pod.terminationGracePeriodSeconds).to.be.greaterThan(longest);
  });

  it('give the container no rights that it does not need', () => {
    expect(pod.securityContext).to.include({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.securityContext).to.deep.equal({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('mount a volume that is large enough for the ledger at the data folder of the image', () => {
    const image = readFileSync(repositoryPath('Dockerfile'), 'utf8');
    const mount = container.volumeMounts.find(({ mountPath }) =>
      image.includes(`MILLRACE_DATA_DIR=${mountPath}\n`),
    );
    expect(mount?.readOnly ?? false).to.equal(false);
    const volume = pod.volumes.find(({ name }) => name === mount?.name);
    const room = Number(/^(\d+)Gi$/.exec(volume?.emptyDir?.sizeLimit ?? '')?.[1]) * 2 ** 30;
    const env = Object.fromEntries(container.env.map(({ name, value = '' }) => [name, value]));
    const { ledgerBytes } = loadSettings({ MILLRACE_LEDGER_BYTES: env.MILLRACE_LEDGER_BYTES });
    expect(ledgerBytes).to.be.lessThan(room);
    expect(pod.securityContext).to.include({ fsGroup: pod.securityContext.runAsGroup });
    expect(container.volumeMounts.map(({ name }) => name)).to.have.members(
      pod.volumes.map(({ name }) => name),
    );
  });

  it('select the pods of the Deployment everywhere', () => {
    const labels = spec.template.metadata.labels;
    expect(spec.selector.matchLabels).to.deep.equal(labels);
    type Selecting = { readonly spec: Readonly<Record<string, { readonly matchLabels?: Json }>> };
    expect((ofKind('Service') as Selecting).spec.selector).to.deep.equal(labels);
    expect((ofKind('PodDisruptionBudget') as Selecting).spec.selector?.matchLabels).to.deep.equal(labels);
    expect((ofKind('NetworkPolicy') as Selecting).spec.podSelector?.matchLabels).to.deep.equal(labels);
  });

  it('scale by a metric that exists, and monitor the port of the Service', () => {
    const scaler = ofKind('HorizontalPodAutoscaler') as Scaler;
    for (const { pods } of scaler.spec.metrics) expect(metricOf(pods.metric.name)).not.to.equal(undefined);
    const monitor = parse(
      readFileSync(repositoryPath('deploy', 'kubernetes', 'service-monitor.yaml'), 'utf8'),
    ) as { readonly spec: { readonly endpoints: readonly { readonly port: string }[] } };
    const service = ofKind('Service') as { readonly spec: Pick<Container, 'ports'> };
    expect(service.spec.ports.map(({ name }) => name)).to.include(monitor.spec.endpoints[0]?.port);
  });
});

describe('the CronJob that trains a model again', () => {
  const read = (path: string): string => readFileSync(repositoryPath(path), 'utf8');
  const job = parse(read('deploy/kubernetes/retrain.yaml')) as {
    readonly spec: { readonly jobTemplate: { readonly spec: JobSpec } };
  };
  const { template, podFailurePolicy } = job.spec.jobTemplate.spec;
  const [container] = template.spec.containers;
  const script = read('deploy/retrain/retrain.sh');

  it('sets only what the script or Millrace reads, and all that the script needs', () => {
    const known = Object.values(SETTINGS).map(({ env }) => env);
    const names = container.env.map(({ name }) => name);
    for (const name of names)
      if (!known.includes(name)) expect(script, name).to.match(new RegExp(`\\$\\{?${name}\\b`));
    const needed = [...script.matchAll(/\$\{(RETRAIN_\w+):\?/g)].map(([, name]) => name);
    expect(needed).to.have.length(4);
    expect(names).to.include.members(needed);
  });

  it('has a page that names every variable of the script', () => {
    const page = read('docs/retrain.md');
    const variables = new Set(script.match(/RETRAIN_\w+/g));
    const rows = [...page.matchAll(/^\| `(RETRAIN_\w+)` +\| ([^|]+) \|/gm)];
    expect(rows.map(([, name]) => name).sort()).to.deep.equal([...variables].sort());
    for (const [, name = '', otherwise = ''] of rows) {
      const [, value] = /^`([^`]+)` *$/.exec(otherwise) ?? [];
      if (value !== undefined) expect(script).to.contain(`\${${name}:-${value}}`);
    }
  });

  it('runs the script of the image, and does not try again what the gate refused', () => {
    const [command = ''] = container.command;
    expect(read('Dockerfile')).to.contain(`deploy/retrain/retrain.sh /usr/local/bin/${command}\n`);
    const [rule] = podFailurePolicy.rules;
    expect(rule.onExitCodes.containerName).to.equal(container.name);
    expect(rule.onExitCodes.values.map((code) => `exit ${code}\n`)).to.deep.equal(script.match(/exit 3\n/g));
    expect(template.spec.restartPolicy).to.equal('Never');
  });

  it('is let in by the NetworkPolicy, has no rights that it does not need, and mounts each volume', () => {
    expect(template.metadata.labels).to.include({ 'millrace-client': 'true' });
    const pod = (ofKind('Deployment') as Deployment).spec.template.spec;
    expect(template.spec.securityContext).to.deep.equal(pod.securityContext);
    expect(container.securityContext).to.deep.equal(pod.containers[0].securityContext);
    expect(container.volumeMounts.map(({ name }) => name)).to.have.members(
      template.spec.volumes.map(({ name }) => name),
    );
  });
});
