import type { ProjectConfig } from '../../../project/config/model/project.js';
import { ID_SCHEMA } from '../../../ground/core/ids.js';
import { TIME_SCHEMA } from '../../../ground/core/value-schema.js';
import type { Pipeline } from '../../../request/pipeline/types.js';
import { requestSchemaName } from '../pipeline-request.js';
import type { ApiParts } from '../route.js';
import { feedback } from '../routes/feedback.js';
import { pushFeatures } from '../routes/push-features.js';
import { uploadEntities } from '../routes/upload-entities.js';
import { embedComponents } from './embed-schema.js';
import { entitySchemaName } from './entity-schemas.js';
import { rowSchemaName, writableViews } from './row-schemas.js';
import { comment, typeText } from './type-text.js';
import { schemaRef, type Schema } from './types.js';
import { usedComponents } from './used-components.js';

export interface DescribedProject {
  readonly config: Pick<ProjectConfig, 'entities' | 'views' | 'events'>;
  readonly pipelines: readonly Pick<Pipeline, 'name' | 'task' | 'requestSchema' | 'answerSchema'>[];
}

const HEAD = `// \`millrace types --write\` writes this file from the project. With \`serve --watch\` it stays current.
// Use it as the type parameter of the client: new Millrace<Project>(url).

`;

/** Members that a request carries but no pipeline declares are ignored, so they have no type. */
const SENT = /^(?:closed_|index_)?(?:request|candidate|given|nested|feedback)_/;

/**
 * Writes the TypeScript module with the types of a project: what each endpoint takes and answers. The schemas are those
 * of the OpenAPI document.
 */
export function projectTypes({ config, pipelines }: DescribedProject): string {
  const api: ApiParts = {
    pipelines: [],
    entityTypes: config.entities,
    views: config.views,
    eventKinds: config.events,
    curationLists: [],
    counterNames: [],
    experimentNames: [],
    version: '',
    keys: undefined,
  };
  const components = Object.fromEntries([
    ['id', { ...ID_SCHEMA, description: 'A whole number means its decimal text.' }],
    ['time', TIME_SCHEMA],
    ...[uploadEntities, pushFeatures, feedback].flatMap(({ schemas }) =>
      (schemas?.(api) ?? []).filter(([name]) => name !== 'id' && name !== 'time'),
    ),
    ...pipelines.flatMap((pipeline) =>
      [
        ...embedComponents(requestSchemaName(pipeline), pipeline.requestSchema),
        ...embedComponents(`answer_${pipeline.name}`, pipeline.answerSchema),
      ].filter(([component]) => component !== 'id' && component !== 'time'),
    ),
  ]) as Record<string, Schema>;
  const project = projectSchema(config, pipelines);
  const { schemas } = usedComponents(project, { schemas: components }) as { schemas: Record<string, Schema> };
  const names = namesOf(Object.keys(schemas));
  const nameOf = (component: string): string => names.get(component) ?? 'unknown';
  const declarations = Object.entries(schemas).map(([component, schema]) => {
    const text = typeText(schema, { nameOf, isOpen: !SENT.test(component) });
    return `${comment(schema.description)}export ${declaration(nameOf(component), text)}`;
  });
  const text = typeText(project, { nameOf, isOpen: false });
  return HEAD + [...declarations, `/** The project. */\nexport ${declaration('Project', text)}`].join('\n');
}

const declaration = (name: string, text: string): string =>
  text.startsWith('{\n') && text.endsWith('}') ? `interface ${name} ${text}\n` : `type ${name} = ${text};\n`;

/** The members of `ProjectTypes` in clients/typescript. */
function projectSchema(
  { entities, views, events }: DescribedProject['config'],
  pipelines: DescribedProject['pipelines'],
): Schema {
  const runs = (task: Pipeline['task']): Schema =>
    record(
      pipelines
        .filter((pipeline) => pipeline.task === task)
        .map((pipeline) => [
          pipeline.name,
          record([
            ['request', schemaRef(requestSchemaName(pipeline))],
            ['answer', schemaRef(`answer_${pipeline.name}`)],
          ]),
        ]),
    );
  const kinds = Array.from(events.keys(), (kind) => schemaRef(`interaction_${kind}`));
  return record([
    ['entities', record(Array.from(entities.keys(), (name) => [name, schemaRef(entitySchemaName(name))]))],
    ['rows', record(writableViews(views).map(({ name }) => [name, schemaRef(rowSchemaName(name))]))],
    ['rank', runs('rank')],
    ['score', runs('score')],
    ['interaction', { anyOf: kinds }],
    [
      'owners',
      {
        ...record(
          Array.from(entities.keys(), (name) => [
            name,
            { anyOf: [schemaRef(`feedback_${name}`), { type: 'null' }] },
          ]),
        ),
        required: [],
      },
    ],
  ]);
}

function record(members: readonly (readonly [string, Schema])[]): Schema {
  return {
    type: 'object',
    required: members.map(([name]) => name),
    properties: Object.fromEntries(members),
  };
}

/** The name of the type of each component: its words in capitals. Equal names are numbered. */
function namesOf(components: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(['Project', 'Readonly', 'Record']);
  return new Map(
    components.map((component) => {
      const words = component.split(/[^A-Za-z0-9]+/).filter(Boolean);
      const base = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
      let name = base;
      for (let number = 2; taken.has(name); number++) name = `${base}_${number}`;
      taken.add(name);
      return [component, name];
    }),
  );
}
