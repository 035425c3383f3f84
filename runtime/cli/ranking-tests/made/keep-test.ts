import { Document, isCollection, visit } from 'yaml';
import { MillraceError } from '../../../ground/api/errors.js';
import type { JsonObject } from '../../../ground/api/types.js';
import { SourceFile } from '../../../project/config/yaml/source.js';
import type { KeepBody, KeptTest } from '../../../serve/compare/workshop-answers.js';
import type { WorkshopWork } from '../../../serve/compare/comparisons.js';
import { TESTS_FOLDER } from '../files/load-tests.js';
import { problemsOf } from '../run-tests.js';

/** The columns of a line. */
const WIDTH = 110;
/** What is said of why a test does not pass. */
const MOST_PROBLEMS = 3;

/**
 * Ranks a request, and makes a test of what it read and answered. The test is run before it is returned.
 * @throws MillraceError unknown_pipeline, test_not_kept, and what the ranking throws
 */
export async function keepTest({ project }: WorkshopWork, wanted: KeepBody): Promise<KeptTest> {
  const { test, pipeline: name, request } = wanted;
  const { config, settings } = project;
  const pipeline = project.pipelines.find((one) => one.name === name);
  if (pipeline?.task !== 'rank')
    throw new MillraceError(
      'unknown_pipeline',
      `the project has no pipeline ${name.slice(0, 100)} that ranks`,
    );
  const { test_case: made } = await pipeline.explain(request, { requestId: 'test', testCase: true });
  if (made === undefined) throw new Error('the explanation has no case');
  const { notes, ...content } = made;
  const yaml = yamlOf({ test, pipeline: name, ...content });
  const file = new SourceFile(`${TESTS_FOLDER}/${test}.yaml`, yaml);
  const problems = await problemsOf(settings, config, file);
  if (problems.length > 0)
    throw new MillraceError(
      'test_not_kept',
      `the test would fail, because a test has only the values of its file: ${problems.slice(0, MOST_PROBLEMS).join('; ')}`,
    );
  return { file: file.path, yaml, notes };
}

/** Each entity, row and candidate is one line. */
function yamlOf(content: JsonObject): string {
  const document = new Document(content);
  visit(document, {
    Collection: (_, node, path) => {
      const depth = path.filter((one) => isCollection(one)).length;
      if (depth >= 3 || (depth === 2 && node.items.length === 0)) node.flow = true;
    },
  });
  return document.toString({ lineWidth: WIDTH, flowCollectionPadding: true });
}
