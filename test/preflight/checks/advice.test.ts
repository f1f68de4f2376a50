import {unknown} from '../../../src/ground/fact.ts';
import {adviceChecks} from '../../../src/preflight/checks/advice.ts';
import {node, ORDINARY, withNodes} from '../context.ts';
import {prove} from './prove.ts';

const K = {chart: 'agent-k8s', cloud: 'aks'};
const VCS = {chart: 'agent-local', purpose: 'vcs'};
const noManifest = {manifest: unknown('failed', 'helm refuses to render the chart')} as const;
const other = {name: 'runs', namespace: 'other', chart: 'agent-job-0.6.5', status: 'deployed'};

const vcs = {...other, name: 'vcs', chart: 'agent-local-0.6.5'};
const withVcs = {...ORDINARY, releases: [vcs], values: {vcs: {podAnnotations: {'scalr.io/purpose': 'vcs'}}}};

prove('advice', adviceChecks, [
  {id: 'agent-version', is: 'nothing', when: 'the image is the one of the chart'},
  {id: 'agent-version', is: 'pass', when: 'the tag is new enough', flags: {'agent-image': 'registry.example.com/scalr/agent:1.4.0'}},
  {id: 'agent-version', is: 'warn', when: 'the tag is older than 0.45', flags: {'agent-image': 'registry.example.com/scalr/agent:0.44.2'}},
  {id: 'agent-version', is: 'skip', when: 'the tag is no version', flags: {'agent-image': 'registry.example.com/scalr/agent:latest'}},
  {id: 'worker-nodes', is: 'nothing', when: 'the chart has no workers on every node'},
  {id: 'worker-nodes', is: 'warn', when: 'workers go to every node', flags: K},
  {id: 'worker-nodes', is: 'pass', when: 'workers have a node selector', flags: {...K, 'node-selector': ['pool=runs']}},
  {id: 'worker-nodes', is: 'pass', when: 'there is one node', flags: K, cluster: withNodes(node('one'))},
  {id: 'worker-nodes', is: 'skip', when: 'the chart cannot be rendered', flags: K, but: noManifest},
  {id: 'vcs-separate', is: 'nothing', when: 'the pool is for runs'},
  {id: 'vcs-separate', is: 'pass', when: 'there is no other agent', flags: VCS},
  {id: 'vcs-separate', is: 'warn', when: 'there is another agent', flags: VCS, cluster: {...ORDINARY, releases: [other]}},
  {id: 'vcs-separate', is: 'pass', when: 'the other agent is for VCS too', flags: VCS, cluster: withVcs},
  {id: 'vcs-separate', is: 'warn', when: 'the pool is for runs, and another agent for VCS', cluster: withVcs},
  {
    id: 'vcs-separate',
    is: 'skip',
    when: 'releases cannot be listed',
    flags: VCS,
    cluster: {...ORDINARY, refuse: ['secrets', 'secrets of the namespace']},
  },
]);
