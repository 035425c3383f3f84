import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import { placeAt } from '../files/placed.js';
import type { Expectations } from '../files/expectations.js';
import type { TestCase } from '../files/test-case.js';
import type { FailedRequest } from '../run/outcome.js';
import type { Failure } from './failure.js';

/** Compares a failed request with the error that a case expects. */
export function checkError(
  { error: expected }: Expectations,
  { error }: FailedRequest,
  test: TestCase,
): Failure[] {
  if (expected === undefined)
    return [
      {
        at: test.request.at,
        what: 'request',
        message: `the request failed: ${error.code}: ${error.message}`,
      },
    ];
  const { code, pointer, detail } = expected;
  if (code.value !== error.code)
    return [
      {
        at: code.at,
        what: 'error',
        message: `expected the error ${code.value}, found ${error.code}: ${error.message}`,
      },
    ];
  const pointers = error.violations.map((violation) => violation.pointer);
  const details = [error.message, ...error.violations.map((violation) => violation.detail)];
  const failures: Failure[] = [];
  if (pointer !== undefined && !pointers.includes(pointer.value))
    failures.push({
      at: pointer.at,
      what: 'error',
      message: `expected a violation at ${pointer.value}, found ${pointers.join(', ') || 'none'}`,
    });
  if (detail !== undefined && !details.some((text) => text.includes(detail.value)))
    failures.push({
      at: detail.at,
      what: 'error',
      message: `expected a detail with "${detail.value}", found: ${details.join('; ')}`,
    });
  return failures;
}

/**
 * Reports a request that the pipeline does not take as a mistake of the test, with its places.
 * @returns whether it did
 */
export function reportBadRequest(
  { error }: FailedRequest,
  { request }: TestCase,
  diagnostics: Diagnostics,
): boolean {
  if (error.code !== 'invalid_body') return false;
  for (const { pointer, detail } of error.violations)
    diagnostics.error('wrong_type', placeAt(request, pointer).at, `\`request\`: ${detail}`);
  return error.violations.length > 0;
}
