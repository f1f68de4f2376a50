import {distance} from 'fastest-levenshtein';
import {isHostAndPort} from '../../settings/kinds/hosts.ts';
import {image} from '../../settings/kinds/images.ts';
import {InvalidValue, type Kind} from '../../settings/kinds/kind.ts';
import {ignoredEntries, noProxyList} from '../../settings/kinds/no-proxy.ts';
import {accountUrl, proxyUrl} from '../../settings/kinds/urls.ts';
import type {ChartName} from '../releases/chart-name.ts';

/** A problem with the value of an option; `isUnlikely` if the value is valid but probably a mistake. */
export interface OptionProblem {
  message: string;
  suggestion?: string;
  isUnlikely?: boolean;
}

type Form = (text: string) => OptionProblem | undefined;

/** An option that the agent reads from its environment: docs/charts/README.md, "Options of the agent". */
export interface AgentOption {
  name: string;
  /** The names of older agents. */
  formerly?: readonly string[];
  /** Absent for free text. */
  form?: Form;
  /** The chart key that sets the option. */
  keys?: Partial<Readonly<Record<ChartName, string>>>;
}

const wrong = (message: string, suggestion?: string): OptionProblem => ({
  message,
  ...(suggestion === undefined ? {} : {suggestion}),
});

const flag: Form = (text) =>
  /^(true|false|1|0)$/i.test(text)
    ? undefined
    : wrong(`"${text}" is not a boolean.`, '"true" or "false"');
const oneOf =
  (...values: string[]): Form =>
  (text) =>
    values.includes(text) ? undefined : wrong(`"${text}" is not one of ${values.join(', ')}.`);
interface Amount {
  /** What is counted, in the plural. */
  unit: string;
  least?: number;
  most?: number;
  /** Valid values outside these bounds are probably mistakes. */
  likely?: readonly [least: number, most: number];
  isWhole?: boolean;
}

/** A plain number of a fixed unit. */
const amount =
  ({
    unit,
    least = 1,
    most = Number.POSITIVE_INFINITY,
    likely = [least, most],
    isWhole = true,
  }: Amount): Form =>
  (text) => {
    const number = Number(text);
    const isNumber = isWhole ? /^[-+]?\d+$/.test(text) : /^[-+]?(\d+\.?\d*|\.\d+)$/.test(text);
    const spelled = isWhole ? `a whole number of ${unit}` : `a number of ${unit}`;
    if (!isNumber) return wrong(`"${text}" is not ${spelled}.`, `Use ${spelled} without a unit`);
    if (number < least || (!isWhole && number === 0))
      return wrong(
        `${text} ${unit} is too low; it must be ${least === 0 ? 'greater than 0' : `at least ${least}`}.`,
      );
    if (number > most) return wrong(`${text} ${unit} is too high; it must be at most ${most}.`);
    if (number < likely[0] || number > likely[1])
      return {...wrong(`${text} ${unit} is an unlikely value. Check the unit.`), isUnlikely: true};
    return undefined;
  };
const seconds = amount({unit: 'seconds'});
const threads = amount({unit: 'threads'});
const cores = amount({unit: 'cores', least: 0, isWhole: false, likely: [0.01, 100]});
const mebibytes = amount({unit: 'mebibytes', likely: [64, 100_000_000]});
const percent = amount({unit: 'percent', most: 100});

/** The format of a setting, for the corresponding environment variable. */
const as =
  (kind: Kind<unknown>): Form =>
  (text) => {
    try {
      kind.parse(text, {now: new Date(0)});
      return undefined;
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      return wrong(`${error.message.replaceAll(/[^\s"/]+@/g, '…@')}.`, error.suggestion?.text);
    }
  };
/** A list for NO_PROXY; entries that the agent ignores are listed. */
const exceptions: Form = (text) => {
  const {ignored, instead} = ignoredEntries(text);
  const entries = ignored.join(', ');
  return (
    as(noProxyList([]))(text) ??
    (ignored.length === 0
      ? undefined
      : {...wrong(`The agent ignores ${entries}.`, `"${instead}"`), isUnlikely: true})
  );
};
const directory: Form = (text) =>
  text.startsWith('/') ? undefined : wrong(`"${text}" is not an absolute path.`);
const hostAndPort: Form = (text) =>
  isHostAndPort(text)
    ? undefined
    : wrong(`"${text}" is not host:port.`, '"otel-collector.observability.svc:4317"');
const sentry: Form = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isDsn =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username !== '' &&
    /\/\d+$/.test(url.pathname);
  return isDsn
    ? undefined
    : wrong('The value is not a valid Sentry DSN.', '"https://KEY@sentry.example.com/1"');
};

/** A path in the image, or a PEM file as base64 in one line. */
const certificate: Form = (text) =>
  text.startsWith('/') || /^[A-Za-z0-9+/]{16,}=*$/.test(text)
    ? undefined
    : wrong(
        'The value must be an absolute path or a PEM file encoded as one line of base64 (base64 -w0).',
      );
const registryPrefix: Form = (text) =>
  /^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:\d+)?(\/[a-z0-9][a-z0-9._-]*)*\/?$/.test(text)
    ? undefined
    : wrong(
        `"${text}" is not a valid registry. Omit the scheme, for example registry.example.com/mirror.`,
      );

/** A JSON list of mirrors, as `agent.providerNetworkMirrors` becomes one. */
const mirrors: Form = (text) => {
  try {
    if (Array.isArray(JSON.parse(text))) return undefined;
  } catch {
    // Falls through: the text is not JSON at all.
  }
  return wrong(
    'The value must be a JSON list of mirrors.',
    '\'[{"url": "https://mirror.example.com/"}]\'',
  );
};

const SHUTDOWN = ['drain', 'grace-shutdown', 'force-shutdown'];

/** An option about run containers, which agent-k8s has a key for. */
const ofTasks = (name: string, form: Form): AgentOption => ({
  name: `SCALR_AGENT_CONTAINER_TASK_${name}`,
  formerly: [`SCALR_CONTAINER_TASK_${name}`],
  form,
  keys: {'agent-k8s': `agent.container_task_${name.toLowerCase()}`},
});

/** Every documented option of the agent. */
const AGENT_OPTIONS: readonly AgentOption[] = [
  {name: 'SCALR_URL', form: as(accountUrl())},
  {name: 'SCALR_AGENT_TOKEN', formerly: ['SCALR_TOKEN']},
  {name: 'SCALR_AGENT_NAME'},
  {name: 'SCALR_AGENT_BACKEND'},
  {name: 'SCALR_AGENT_DRIVER', formerly: ['SCALR_DRIVER']},
  {name: 'SCALR_AGENT_CONCURRENCY', form: amount({unit: 'runs'})},
  {name: 'SCALR_AGENT_SINGLE', form: flag},
  {
    name: 'SCALR_AGENT_DEBUG',
    formerly: ['SCALR_DEBUG'],
    form: flag,
    keys: {'agent-k8s': 'agent.debug', 'agent-job': 'agent.debug'},
  },
  {
    name: 'SCALR_AGENT_LOG_FORMAT',
    formerly: ['SCALR_LOG_FORMAT'],
    form: oneOf('plain', 'dev', 'json'),
  },
  {name: 'SCALR_AGENT_SENTRY_DSN', form: sentry, keys: {'agent-job': 'agent.sentryDsn'}},
  {name: 'SCALR_AGENT_DATA_DIR', formerly: ['SCALR_DATA_HOME', 'SCALR_WORK_DIR'], form: directory},
  {name: 'SCALR_AGENT_CACHE_DIR', form: directory},
  {name: 'SCALR_AGENT_HOOKS_DIR', form: directory},
  {name: 'SCALR_AGENT_STATE_PERSISTENCE_ENABLED', form: flag},
  {name: 'SCALR_AGENT_DISCONNECT_ON_STOP', formerly: ['SCALR_DISCONNECT_ON_STOP'], form: flag},
  {
    name: 'SCALR_AGENT_WORKER_ON_STOP_ACTION',
    formerly: ['SCALR_WORKER_ON_STOP_ACTION'],
    form: oneOf(...SHUTDOWN),
  },
  {
    name: 'SCALR_AGENT_WORKER_DRAIN_TIMEOUT',
    formerly: ['SCALR_WORKER_DRAIN_TIMEOUT'],
    form: seconds,
  },
  {
    name: 'SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT',
    formerly: ['SCALR_WORKER_GRACE_SHUTDOWN_TIMEOUT'],
    form: seconds,
  },
  {name: 'SCALR_AGENT_CA_CERT', formerly: ['SCALR_CA_CERT'], form: certificate},
  {
    name: 'SCALR_AGENT_CONTAINER_TASK_CA_CERT',
    formerly: ['SCALR_CONTAINER_TASK_CA_CERT'],
    form: certificate,
  },
  {name: 'SCALR_AGENT_TLS_CERT_FILE', form: directory},
  {name: 'SCALR_AGENT_TLS_KEY_FILE', form: directory},
  {name: 'SCALR_AGENT_PROVIDER_CACHE_ENABLED', form: flag},
  {
    name: 'SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB',
    formerly: ['SCALR_GC_PLUGINS_GLOBAL_SIZE_LIMIT'],
    form: mebibytes,
    keys: {'agent-k8s': 'agent.gc_plugins_global_size_limit'},
  },
  {
    name: 'SCALR_AGENT_PROVIDER_CACHE_CONCURRENCY',
    form: threads,
    keys: {'agent-job': 'agent.providerCache.concurrency'},
  },
  {name: 'SCALR_AGENT_PROVIDER_CACHE_DROP_KERNEL_PAGES', form: flag},
  {name: 'SCALR_AGENT_PROVIDER_NETWORK_MIRRORS', form: mirrors},
  {name: 'SCALR_AGENT_MODULE_CACHE_ENABLED', form: flag},
  {name: 'SCALR_AGENT_MODULE_CACHE_SIZE_LIMIT_MB', form: mebibytes},
  {
    name: 'SCALR_AGENT_MODULE_CACHE_CONCURRENCY',
    form: threads,
    keys: {'agent-job': 'agent.moduleCache.concurrency'},
  },
  {name: 'SCALR_AGENT_BINARY_CACHE_SIZE_LIMIT_MB', form: mebibytes},
  {
    name: 'SCALR_AGENT_BINARY_CACHE_THRESHOLD_DAYS',
    form: amount({unit: 'days'}),
    keys: {'agent-job': 'agent.binaryCache.thresholdDays'},
  },
  {name: 'SCALR_AGENT_MEMORY_MONITOR_ENABLED', form: flag},
  {
    name: 'SCALR_AGENT_MEMORY_MONITOR_SOFT_LIMIT_PERCENT',
    form: percent,
    keys: {'agent-job': 'task.runner.memorySoftLimitPercent'},
  },
  {
    name: 'SCALR_AGENT_MEMORY_MONITOR_WARN_PERCENT',
    form: percent,
    keys: {'agent-job': 'task.runner.memoryWarnPercent'},
  },
  {name: 'SCALR_AGENT_OTLP_ENDPOINT', form: hostAndPort, keys: {'agent-job': 'otel.endpoint'}},
  {name: 'SCALR_AGENT_OTLP_METRICS_ENABLED', form: flag},
  {name: 'SCALR_AGENT_OTLP_TRACES_ENABLED', form: flag},
  ofTasks('SCHEDULING_TIMEOUT', seconds),
  ofTasks('ACQUIRE_TIMEOUT', seconds),
  ofTasks('CPU_REQUEST', cores),
  ofTasks('CPU_LIMIT', cores),
  ofTasks('MEM_REQUEST', mebibytes),
  ofTasks('MEM_LIMIT', mebibytes),
  {
    name: 'SCALR_AGENT_CONTAINER_TASK_IMAGE',
    form: as(image()),
    keys: {'agent-k8s': 'agent.container_task_image'},
  },
  {name: 'SCALR_AGENT_CONTAINER_TASK_IMAGE_MODE', form: oneOf('legacy', 'golden')},
  ofTasks('IMAGE_REGISTRY', registryPrefix),
  {
    name: 'SCALR_AGENT_KUBERNETES_MODE',
    formerly: ['SCALR_KUBERNETES_MODE'],
    form: oneOf('controller', 'worker'),
  },
  {name: 'SCALR_AGENT_KUBERNETES_EFS_CLAIM_NAME', formerly: ['SCALR_KUBERNETES_EFS_CLAIM_NAME']},
  {name: 'SCALR_AGENT_KUBERNETES_AUTOMOUNT_SERVICE_ACCOUNT_TOKEN', form: flag},
  {
    name: 'SCALR_AGENT_KUBERNETES_TASK_STARTUP_TIMEOUT_SECONDS',
    form: seconds,
    keys: {'agent-job': 'task.startupTimeoutSeconds'},
  },
];

/** Variables that all programs read, both the agent and the tools of runs. */
const PROXIES: readonly AgentOption[] = [
  {
    name: 'HTTP_PROXY',
    form: as(proxyUrl('HTTP_PROXY')),
    keys: {'agent-job': 'global.proxy.httpProxy'},
  },
  {
    name: 'HTTPS_PROXY',
    form: as(proxyUrl('HTTPS_PROXY')),
    keys: {'agent-job': 'global.proxy.httpsProxy'},
  },
  {name: 'NO_PROXY', form: exceptions, keys: {'agent-job': 'global.proxy.noProxy'}},
];

const OPTIONS: readonly AgentOption[] = [...AGENT_OPTIONS, ...PROXIES];

/** The option of this name; in a container without the agent only a proxy. Proxies are read in lower case too. */
export const optionNamed = (name: string, isAgent: boolean): AgentOption | undefined =>
  (isAgent ? OPTIONS : PROXIES).find(
    (each) => each.name === name || (PROXIES.includes(each) && each.name.toLowerCase() === name),
  );
export const optionsOfKeys = (chart: ChartName): {key: string; option: AgentOption}[] =>
  OPTIONS.flatMap((option) => {
    const key = option.keys?.[chart];
    return key === undefined ? [] : [{key, option}];
  });

/** The option for an unknown name: renamed, or misspelled by up to two letters; clear if it can be no other one. */
export function optionMeantBy(
  name: string,
): {option: AgentOption; isOld: boolean; isClear: boolean} | undefined {
  if (!/^scalr_/i.test(name)) return undefined;
  const former = AGENT_OPTIONS.find((each) => each.formerly?.includes(name));
  if (former) return {option: former, isOld: true, isClear: true};
  const near = AGENT_OPTIONS.filter((each) => distance(each.name, name.toUpperCase()) <= 2);
  return near[0] && {option: near[0], isOld: false, isClear: near.length === 1};
}
