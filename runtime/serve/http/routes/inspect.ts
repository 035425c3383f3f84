import { renderDiagnostics } from '../../../project/config/diagnostics/render.js';
import { assetRoute } from '../asset-route.js';
import { explainPath } from '../explain-path.js';
import type { ReloadReport } from '../instance.js';
import { exampleOf } from '../openapi/example.js';

import { sendJson } from '../respond.js';
import type { GetRoute } from '../route.js';
import type { Pipeline } from '../../../request/pipeline/types.js';

/** The state of the project, for the page /inspect. */
export interface Inspected {
  /** The name of the project. */
  readonly name: string;
  /** The version of its files that serves. */
  readonly version: string;
  /** Whether the service applies changes of the files. */
  readonly watches: boolean;
  readonly pipelines: readonly {
    readonly name: string;
    readonly route: string;
    /** The path that explains. */
    readonly explain: string;
    readonly samples: readonly { readonly title: string; readonly body: unknown }[];
  }[];
  /** The last reload; null before the first one. */
  readonly reload: {
    readonly outcome: ReloadReport['outcome'];
    readonly at: number;
    readonly text: string;
  } | null;
}

const FOLDER = '/inspect/';
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
/** The candidates of the sample that takes them from the index. */
const SAMPLE_CANDIDATES = 100;
/** The columns of the rendered diagnostics. */
const WIDTH = 100;

/** The page that shows why a ranking is as it is. It holds no data: it asks `/inspect/project` and the routes that explain. */
const page = assetRoute({
  path: '/inspect',
  folder: FOLDER,
  file: 'inspect/index.html',
  type: 'text/html',
  policy: POLICY,
});

const assets = ['main.js', 'answer.js', 'dom.js', 'service.js'].map((name) =>
  assetRoute({ path: `${FOLDER}${name}`, folder: FOLDER, file: `inspect/${name}`, type: 'text/javascript' }),
);

const style = assetRoute({
  path: `${FOLDER}style.css`,
  folder: FOLDER,
  file: 'inspect/style.css',
  type: 'text/css',
});

const project: GetRoute = {
  path: `${FOLDER}project`,
  // The diagnostics quote the files of the project.
  scope: 'explain',
  folder: FOLDER,
  method: 'GET',
  class: 'explain',
  audience: 'operators',
  handler: ({ pipelines, instance, projectVersion = '', projectName = '', watches = false }) => {
    const described = pipelines.map(describe);
    return (_req, res) => {
      const { lastReload } = instance;
      const answer: Inspected = {
        name: projectName,
        version: projectVersion,
        watches,
        pipelines: described,
        reload:
          lastReload === undefined
            ? null
            : { outcome: lastReload.outcome, at: lastReload.at, text: textOf(lastReload) },
      };
      sendJson(res, 200, answer);
    };
  },
};

/** The routes of the page, its files and its data. */
export const INSPECT: readonly GetRoute[] = [page, ...assets, style, project];

function describe({ name, route, task, requestSchema }: Pipeline): Inspected['pipelines'][number] {
  const example = exampleOf(requestSchema) as object;
  const fromIndex = { from: 'index', where: 'true', limit: SAMPLE_CANDIDATES };
  return {
    name,
    route,
    explain: explainPath(route),
    samples: [
      ...(task === 'rank'
        ? [{ title: 'candidates from the index', body: { ...example, candidates: fromIndex } }]
        : []),
      { title: 'ids alone', body: example },
    ],
  };
}

function textOf(report: ReloadReport): string {
  const problem = report.outcome === 'failed' ? report.problem?.detail : undefined;
  return problem ?? renderDiagnostics(report.diagnostics, { color: false, width: WIDTH });
}
