/** The stages of every request, in order. The clock, the metrics, the explanation and the reference use this list. */
export const STAGES = [
  { name: 'read', does: 'checks the body and writes its ids into the frame' },
  {
    name: 'hydrate',
    does: 'reads entities and feature records, one batch for each level, and fills attributes',
  },
  {
    name: 'features',
    does: 'waits for the last feature records and fills batch features, with status, expiry and default',
  },
  { name: 'components', does: "runs the pipeline's steps" },
  { name: 'page', does: 'orders the candidates and cuts the page' },
] as const;

export type StageName = (typeof STAGES)[number]['name'];

/** Milliseconds by stage, in the order of STAGES. */
export type StageTimes = Readonly<Record<StageName, number>>;
