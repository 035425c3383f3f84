import type { Request, RequestHandler, Response } from 'express';
import { feastErrorBody } from './feast-error.js';
import { jsonAnswer, type Schema } from './openapi/types.js';
import { requestState } from './request-state.js';

/** A handler whose errors have the form that Feast's clients expect. */
export function forFeast(handle: (req: Request, res: Response) => Promise<void>): RequestHandler {
  return (req, res) => {
    requestState(res).errorBody = feastErrorBody;
    return handle(req, res);
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
