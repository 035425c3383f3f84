/** The project of the proof: the one that ships, with pipelines of every function, operator and option. */
import {
  ALLOWED_HOSTS,
  CURATION_FILES,
  type GeneratedOptions,
  optionCases,
  POSTGRES_PORT,
} from './options.js';
import { COMPARISONS } from '../../../runtime/serve/http/routes/comparisons.js';
import { reload } from '../../../runtime/serve/http/routes/reload.js';
import { startPostgres } from '../../support/postgres-server.js';
import { ENTITY_FILES } from './columns.js';
import { type Generated, languageCases, languageToCover } from './language.js';
import type { GrowingCase } from './load.js';
import { type ProvedRoute, routeCases, routesOf, routesToCover } from './routes.js';
import { TEXT_FILES } from './texts.js';
import { type MeasuredService, startMeasured } from './turns.js';

/** The pipelines that ship. */
const PIPELINES = ['ranking', 'brands'];

/** A list of rules, an experiment, a counter and a push source, for the routes that need one. */
const ROUTE_FILES: Readonly<Record<string, string>> = {
  ...CURATION_FILES,
  'pipelines/tried.yaml': `pipeline: tried
rank: product
request: { user: optional(user), query: optional(query), category: optional(string) }
params: { w: 1 }
components:
  - { use: score, with: { value: w * product.price } }
  - { use: curation, with: { list: campaigns } }
`,
  'experiments/prices.yaml': `experiment: prices
pipeline: tried
unit: user
share: 20%
arms: { control: { weight: 50 }, cheap: { weight: 50, params: { w: -10 } } }
metrics: { primary: { event: click, within: 1h } }
`,
  'schemas/counters/clicked.yaml': `counter: clicked
of: [product]
ttl: 7d
features: { clicks: { event: click, window: 7d } }
`,
  'schemas/features/pushed.yaml': `view: pushed
of: [product]
ttl: 7d
feast: { push: [pushed_source], join_keys: { product_id: product } }
features: { note: string, amounts: list(float), seen: timestamp }
`,
};

export interface Cover {
  /** What must have a case: `function contains`, `operator in`, `option dedupe.by`, `route /api/v1/feedback`. */
  readonly wanted: readonly string[];
  /** What cannot be covered on this machine, with the reason. */
  readonly leftOut: ReadonlyMap<string, string>;
}

export interface Generator extends Cover {
  readonly language: Generated;
  readonly options: GeneratedOptions;
}

/** Everything that the tables declare, before a service runs. */
export async function generator(): Promise<Generator> {
  const options = await optionCases();
  const language = languageCases();
  return {
    language,
    options,
    wanted: [
      ...languageToCover(),
      ...options.options.map((option) => `option ${option}`),
      ...routesToCover(PIPELINES).map((path) => `route ${path}`),
    ],
    leftOut: new Map([
      ...Array.from(options.leftOut, ([option, name]): [string, string] => [
        `option ${option}`,
        `${name} is not installed`,
      ]),
      ...Array.from(LEFT_OUT, ([path, why]): [string, string] => [`route ${path}`, why]),
    ]),
  };
}

/** Routes whose bodies are not measured, and why. */
const LEFT_OUT: ReadonlyMap<string, string> = new Map([
  [reload.path, 'it loads the project, which costs the same for every body'],
  ...COMPARISONS.map(
    ({ path }) => [path, 'a service that ranks answers it without reading more than the body'] as const,
  ),
]);

/** Starts the service of the project. @param files of the pipelines whose cases run */
export async function startProject(files: Generated['files']): Promise<MeasuredService> {
  const address = `127.0.0.1:${POSTGRES_PORT}/`;
  const asksPostgres = Object.values(files).some(
    (file) => typeof file === 'string' && file.includes(address),
  );
  const postgres = asksPostgres ? await startPostgres(undefined, POSTGRES_PORT) : undefined;
  const service = await startMeasured(
    { MILLRACE_MODEL_HOSTS: ALLOWED_HOSTS },
    { ...ENTITY_FILES, ...TEXT_FILES, ...ROUTE_FILES, ...files },
  );
  return {
    ...service,
    close: async () => {
      await service.close();
      await postgres?.remove();
    },
  };
}

/** The routes of a running service, and their cases. */
export async function routesOfService(
  url: string,
): Promise<{ readonly routes: readonly ProvedRoute[]; readonly cases: readonly GrowingCase[] }> {
  const document: unknown = await (await fetch(`${url}/openapi.json`)).json();
  const paths = routesToCover(PIPELINES).filter((path) => !LEFT_OUT.has(path));
  const routes = routesOf(document, paths);
  return { routes, cases: routes.flatMap((route) => [...routeCases(route)]) };
}
