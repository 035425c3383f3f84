import type { TestRun } from '../ranking-tests/run-tests.js';
import { escaped } from '../judge/escaped.js';

/**
 * A JUnit report: a suite for each file, a test case for each case.
 * Source: the schema of the Jenkins JUnit plugin, `junit-10.xsd`.
 */
export function junitOf({ results }: TestRun): string {
  const files = [...new Set(results.map(({ test }) => test.at.file.path))];
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const suites = files.flatMap((file) => {
    const own = results.filter(({ test }) => test.at.file.path === file);
    const wrong = own.filter(({ failures }) => failures.length > 0).length;
    return [
      `  <testsuite name="${escaped(file)}" tests="${own.length}" failures="${wrong}" errors="0" skipped="0" time="${seconds(own)}">`,
      ...own.map(({ test, failures, ms }) => {
        const open = `    <testcase classname="${escaped(test.test)}" name="${escaped(test.name)}" file="${escaped(file)}" time="${seconds([{ ms }])}"`;
        if (failures.length === 0) return `${open}/>`;
        const texts = failures.map(({ message, details = [], at }) => {
          const { line, column } = at.file.position(at.start);
          const text = [`${file}:${line}:${column}: ${message}`, ...details].join('\n');
          return `<failure message="${escaped(message)}">${escaped(text)}</failure>`;
        });
        return `${open}>${texts.join('')}</testcase>`;
      }),
      '  </testsuite>',
    ];
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${results.length}" failures="${failed}" time="${seconds(results)}">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function seconds(results: readonly { readonly ms: number }[]): string {
  return (results.reduce((sum, { ms }) => sum + ms, 0) / 1000).toFixed(3);
}
