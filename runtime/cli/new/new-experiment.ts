import { modeline } from '../init/new-project.js';
import { CommandFailure } from '../failure.js';
import type { NewContext, NewKind } from './new-kind.js';

type Pipeline = NewContext['config']['pipelines'][number];

export const newExperiment: NewKind = {
  summary: 'an experiment on live traffic, in experiments/',
  files: ({ name, config: { pipelines } }) => {
    const able = pipelines.filter((one) => one.task === 'rank' && unitOf(one) !== undefined);
    const pipeline = able.find(({ params }) => params.size > 0) ?? able[0];
    if (pipeline === undefined)
      throw new CommandFailure(
        'the project has no pipeline whose requests name an entity to experiment on',
        'add one to the request of a pipeline: user: optional(user)',
      );
    const param = [...pipeline.params.values()][0];
    const arm =
      param === undefined
        ? '{} # params: { w_pop: 0.5 }, or pipeline: search_v2'
        : `{ params: { ${param.name}: ${param.range?.max ?? param.value} } } # or pipeline: another`;
    return new Map([
      [
        `experiments/${name}.yaml`,
        `${modeline('experiment', 1)}experiment: ${name}
pipeline: ${pipeline.name}
unit: ${unitOf(pipeline) ?? ''} # every request of one gets the same arm
share: 10%
arms:
  control: {}
  changed: ${arm}
metrics:
  primary: { event: click, within: 1d }
`,
      ],
    ]);
  },
};

/** The user, or another entity of the request that is not its subject. */
function unitOf({ request }: Pipeline): string | undefined {
  const names = [...request.fields.values()].flatMap(({ kind, name }) => (kind === 'entity' ? [name] : []));
  return names.includes('user') ? 'user' : names[0];
}
