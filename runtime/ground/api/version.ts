/**
 * The version of the plugin API: of everything that `millrace/api` exports. A package of plugins declares a range of
 * versions in its package.json. The minor version counts additions, the major version counts incompatible changes.
 */
export const API_VERSION = '1.1.0';
