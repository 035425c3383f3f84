import { AllowedHosts } from './allowed-hosts.js';
import { row } from './setting-row.js';

/** The servers that a project may call, and those whose pictures its pages load. */
export const OUTBOUND_SETTINGS = {
  modelHosts: row({
    env: 'MILLRACE_MODEL_HOSTS',
    value: 'HOSTS',
    default: '',
    description:
      'Hosts where pipelines may call remote models, e.g. `models:8080,triton`. A host without a port allows all of its ports. By default none.',
    expected: 'host names or addresses, each with an optional port, separated by commas',
    list: true,
    parse: (text) => AllowedHosts.parse(text),
  }),
  sinkHosts: row({
    env: 'MILLRACE_SINK_HOSTS',
    value: 'HOSTS',
    default: '',
    description:
      'Hosts to which `http` sinks may send records, e.g. `collector:8443`. A host without a port allows all of its ports. By default none.',
    expected: 'host names or addresses, each with an optional port, separated by commas',
    list: true,
    parse: (text) => AllowedHosts.parse(text),
  }),
  imageHosts: row({
    env: 'MILLRACE_IMAGE_HOSTS',
    value: 'HOSTS',
    default: '',
    description:
      'Hosts whose images cards show, e.g. `images.shop.example`: the page /workbench loads images from no others. The service itself never calls them. By default none.',
    expected: 'host names or addresses, each with an optional port, separated by commas',
    list: true,
    parse: (text) => AllowedHosts.parse(text),
  }),
} as const;
