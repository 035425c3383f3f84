import { renderDiagnostics } from '../../../project/config/diagnostics/render.js';
import { assetRoute } from '../asset-route.js';
import { explainPath } from '../explain-path.js';
import type { ReloadReport } from '../instance.js';
import { exampleOf } from '../openapi/example.js';

import { sendJson } from '../respond.js';
import type { HttpServices } from '../services.js';
import type { GetRoute, PageRoute, Route } from '../route.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import type { JsonObject } from '../../../ground/api/types.js';
import type { AddressField } from '../../../request/pipeline/request/address-fields.js';
import type { Pipeline } from '../../../request/pipeline/types.js';

/** The state of the project, for the page /workbench. */
export interface WorkbenchProject {
  /** The name of the project. */
  readonly name: string;
  /** The version of its files that serves. */
  readonly version: string;
  /** Whether the service applies changes of the files. */
  readonly watches: boolean;
  /**
   * Why the process does not compare, read logged requests and keep rankings as tests; null if it does. `service`: it ranks.
   * `project`: it is the workbench of another process, and cannot read the project.
   */
  readonly elsewhere: 'service' | 'project' | null;
  /** Whether the process finds a ledger. */
  readonly hasLedger: boolean;
  readonly pipelines: readonly {
    readonly name: string;
    readonly route: string;
    /** The path that explains. */
    readonly explain: string;
    /** The fields of a request that a person fills in; none for a pipeline that scores. */
    readonly fields: readonly AddressField[];
    /** The request that the fields belong to. */
    readonly body: JsonObject;
    /** The attributes of candidates that a person searches by, the title first; none without a title. */
    readonly searched: readonly string[];
    /** The params, of which other values can be tried. */
    readonly params: readonly {
      readonly name: string;
      readonly value: number;
      readonly min?: number;
      readonly max?: number;
    }[];
    readonly samples: readonly { readonly title: string; readonly body: unknown }[];
  }[];
  /** The names of the lists of curation. */
  readonly lists: readonly string[];
  /** The last reload; null before the first one. */
  readonly reload: {
    readonly outcome: ReloadReport['outcome'];
    readonly at: number;
    readonly text: string;
  } | null;
}

const FOLDER = '/workbench/';
/** The folder of the page on which people sign in. */
export const SESSION_FOLDER = '/session/';
export const PAGE_FOLDERS = [FOLDER, SESSION_FOLDER];
/** The content security policy of pages: images come from the named hosts alone. */
export const pagePolicy = ({ imageHosts }: Pick<HttpServices, 'imageHosts'>): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    ['img-src data:', ...(imageHosts?.sources() ?? [])].join(' '),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
/** The candidates of the sample that takes them from the index. */
const SAMPLE_CANDIDATES = 100;
/** A search over the index reads these attributes of every candidate once. */
const MOST_SEARCHED = 8;
/** The columns of the rendered diagnostics. */
const WIDTH = 100;

/** The page that shows why a ranking is as it is. It holds no data: it asks `/workbench/project` and the routes that explain. */
const page: PageRoute = {
  ...assetRoute({
    path: '/workbench',
    folder: FOLDER,
    file: 'workbench/index.html',
    type: 'text/html',
    policy: pagePolicy,
  }),
  title: 'Workbench: search, and see why a ranking is as it is',
};

/** The page that a link to a preview opens. What allows it stands in its fragment, which no server and no log sees. */
const shared: PageRoute = assetRoute({
  path: `${FOLDER}preview`,
  folder: FOLDER,
  file: 'workbench/preview.html',
  type: 'text/html',
  policy: pagePolicy,
});

const scripts = ['main.js', 'session.js', 'preview.js'].map((name) =>
  assetRoute({
    path: `${FOLDER}${name}`,
    folder: FOLDER,
    file: `workbench/${name}`,
    type: 'text/javascript',
  }),
);

const style = assetRoute({
  path: `${FOLDER}style.css`,
  folder: FOLDER,
  file: 'workbench/style.css',
  type: 'text/css',
});

export const workbenchProject: GetRoute = {
  path: `${FOLDER}project`,
  // The diagnostics quote the files of the project.
  scope: 'explain',
  folder: FOLDER,
  method: 'GET',
  class: 'explain',
  audience: 'operators',
  handler: (parts) => {
    const { pipelines, instance, projectVersion = '', projectName = '', watches = false } = parts;
    let described: WorkbenchProject['pipelines'] | undefined;
    return ({ res }) => {
      const { lastReload } = instance;
      const answer: WorkbenchProject = {
        name: projectName,
        version: projectVersion,
        watches,
        elsewhere: parts.comparisons === undefined ? 'service' : null,
        hasLedger: parts.workshop?.hasLedger() ?? false,
        pipelines: (described ??= pipelines.map((one) => describe(one, parts.entityTypes))),
        lists: parts.curationLists,
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
export const WORKBENCH: readonly Route[] = [page, shared, ...scripts, style, workbenchProject];

function describe(
  pipeline: Pipeline,
  entityTypes: HttpServices['entityTypes'],
): WorkbenchProject['pipelines'][number] {
  const { name, route, task, requestSchema } = pipeline;
  const example = exampleOf(requestSchema) as JsonObject;
  const ranks = task === 'rank';
  const fromIndex = { from: 'index', where: 'true' };
  const sample = { ...example, candidates: { ...fromIndex, limit: SAMPLE_CANDIDATES } };
  return {
    name,
    route,
    explain: explainPath(route),
    fields: ranks ? pipeline.fields : [],
    // Without candidates, retrievers find them.
    body: pipeline.addressFields === undefined ? { candidates: fromIndex } : {},
    params: Object.entries(pipeline.describe().params ?? {}).map(([one, param]) => ({ name: one, ...param })),
    searched: searchedOf(entityTypes.get(pipeline.candidateType ?? '')),
    samples: [
      ...(ranks ? [{ title: 'candidates from the index', body: sample }] : []),
      { title: 'ids alone', body: example },
    ],
  };
}

/** The title, and texts such as an EAN that identify a candidate. */
function searchedOf(type: EntityType | undefined): readonly string[] {
  const title = type?.display?.title;
  if (type === undefined || title?.attribute.type.kind !== 'string') return [];
  const texts = [...type.attributes.values()].flatMap(({ name, type: { kind }, isPrivate }) =>
    kind === 'string' && isPrivate !== true ? [name] : [],
  );
  return [...new Set([title.text, ...texts])].slice(0, MOST_SEARCHED).map((name) => `${type.name}.${name}`);
}

function textOf(report: ReloadReport): string {
  const problem = report.outcome === 'failed' ? report.problem?.detail : undefined;
  return problem ?? renderDiagnostics(report.diagnostics, { color: false, width: WIDTH });
}
