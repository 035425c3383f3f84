import type { Evaluation } from '../../learn/judge/evaluation.js';
import type { TestRun } from '../ranking-tests/run-tests.js';
import { escaped } from '../../learn/report/escaped.js';
import { gateText } from '../../learn/report/evaluation-tree.js';

/** Reports in the form of JUnit. Source: the schema of the Jenkins JUnit plugin, `junit-10.xsd`. */
function junit(attributes: string, suites: readonly string[]): string {
  const head = '<?xml version="1.0" encoding="UTF-8"?>';
  return [head, `<testsuites ${attributes}>`, ...suites, '</testsuites>', ''].join('\n');
}

function testCase(
  attributes: string,
  failures: readonly (readonly [message: string, text: string])[],
): string {
  if (failures.length === 0) return `    <testcase ${attributes}/>`;
  const texts = failures.map(
    ([message, text]) => `<failure message="${escaped(message)}">${escaped(text)}</failure>`,
  );
  return `    <testcase ${attributes}>${texts.join('')}</testcase>`;
}

/** A suite for each file, a test case for each case. */
export function junitOfTests({ results }: TestRun): string {
  const counts = (own: TestRun['results']): string =>
    `tests="${own.length}" failures="${own.filter(({ failures }) => failures.length > 0).length}"`;
  const files = [...new Set(results.map(({ test }) => test.at.file.path))];
  const suites = files.flatMap((file) => {
    const own = results.filter(({ test }) => test.at.file.path === file);
    return [
      `  <testsuite name="${escaped(file)}" ${counts(own)} errors="0" skipped="0" time="${seconds(own)}">`,
      ...own.map(({ test, failures, ms }) =>
        testCase(
          `classname="${escaped(test.test)}" name="${escaped(test.name)}" file="${escaped(file)}" time="${seconds([{ ms }])}"`,
          failures.map(({ message, details = [], at }) => {
            const { line, column } = at.file.position(at.start);
            return [message, [`${file}:${line}:${column}: ${message}`, ...details].join('\n')];
          }),
        ),
      ),
      '  </testsuite>',
    ];
  });
  return junit(`${counts(results)} time="${seconds(results)}"`, suites);
}

function seconds(results: readonly { readonly ms: number }[]): string {
  return (results.reduce((sum, { ms }) => sum + ms, 0) / 1000).toFixed(3);
}

/** A test case for each gate. The metrics are properties of the suite. */
export function junitOfGates({ pipeline, gates, report }: Evaluation): string {
  const name = escaped(`millrace evaluate ${pipeline}`);
  const counts = `tests="${gates.length}" failures="${gates.filter(({ passed }) => !passed).length}"`;
  const properties = report.metrics.flatMap(({ metric, mean, interval, delta }) => [
    [metric, mean],
    [`lower(${metric})`, interval.lower],
    [`upper(${metric})`, interval.upper],
    ...(delta === undefined ? [] : [[`delta.${metric}`, delta.mean] as const]),
  ]);
  return junit(counts, [
    `  <testsuite name="${name}" ${counts} errors="0" skipped="0">`,
    '    <properties>',
    ...properties.map(
      ([key, value]) => `      <property name="${escaped(String(key))}" value="${String(value)}"/>`,
    ),
    '    </properties>',
    ...gates.map((gate) =>
      testCase(
        `classname="${name}" name="${escaped(gate.text)}"`,
        gate.passed ? [] : [[gateText(gate), gateText(gate)]],
      ),
    ),
    '  </testsuite>',
  ]);
}
