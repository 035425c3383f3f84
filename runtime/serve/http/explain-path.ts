/** Returns the path of the route that explains a pipeline. @param route route of the pipeline */
export const explainPath = (route: string): string => `${route.replace(/\/+$/, '')}/explain`;
