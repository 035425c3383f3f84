import { feastErrorBody } from './feast-error.js';
import { jsonAnswer, type Schema } from './openapi/types.js';
import type { Handler } from './route.js';

/** A handler whose errors have the form that Feast's clients expect. */
export function forFeast(handle: Handler): Handler {
  return (exchange) => {
    exchange.errorBody = feastErrorBody;
    return handle(exchange);
  };
}

const ERROR: Schema = {
  type: 'string',
  description: 'A JSON text with `module`, `class` and `message`, from which the client makes its exception.',
};

/** The answers to requests that fail, for the API reference. */
export function feastErrorResponses(): Record<string, unknown> {
  return {
    400: jsonAnswer('The body is not JSON.', ERROR),
    404: jsonAnswer('There is no such view, feature service or push source.', ERROR),
    422: jsonAnswer('The body is wrong; the message names the places.', ERROR),
    503: jsonAnswer('The store does not answer; the client retries.', ERROR),
  };
}
