import type {KeyFinding} from '../../../src/ground/finding.ts';

interface Judgment {
  codes: readonly string[];
  path?: RegExp;
  because: string;
}

/** Findings with severity error that neither Helm nor the API rejects; all others must be rejected by one of them. */
const JUDGED: readonly Judgment[] = [
  {
    codes: ['UNKNOWN_KEY'],
    because: 'no template reads the key, so the file does not do what it says',
  },
  {
    codes: [
      'IGNORED_KEY',
      'FEATURE_DISABLED',
      'KEY_OVERRIDDEN',
      'LEGACY_KEY_PRECEDENCE',
      'INCOMPLETE_CLIENT_CERTIFICATE',
      'SELECTOR_MATCHES_NOTHING',
      'PVC_NOT_RENDERED',
    ],
    because: 'this version renders the same without it',
  },
  {
    codes: ['INVALID_URL', 'BROKEN_TOKEN', 'NOT_PEM', 'NOT_ONE_LINE', 'DIRECTORIES_COLLIDE'],
    because: 'only the agent will stumble over it',
  },
  {
    codes: [
      'PVC_NOT_SHARED',
      'SHARED_WORKSPACE',
      'GRACE_PERIOD_TOO_SHORT',
      'NO_PERMISSIONS',
      'TWO_REGISTRIES',
      'SELECTOR_LABEL',
    ],
    because: 'the release installs, and runs fail or are killed',
  },
  {
    codes: ['REQUEST_ABOVE_LIMIT'],
    path: /container_task_/,
    because: 'the agent makes these pods, and Kubernetes refuses them then',
  },
  {
    codes: ['NO_TOKEN', 'TWO_DISRUPTION_BOUNDS'],
    because: 'it follows from another value of a wrong type or form, which has an error of its own',
  },
  {codes: ['STRING_NOT_BOOLEAN'], because: 'a text is true, also "false"'},
  {
    codes: ['NULL_DELETES_DEFAULT'],
    because: 'null is no way to ask for a default; some templates fall into another mode',
  },
  {
    codes: ['NULL_IS_ZERO'],
    because: 'a limit of zero is taken where nothing is requested, and nobody means it',
  },
  {codes: ['LARGE_NUMBER'], because: 'the agent gets 1e+06'},
  {codes: ['WRONG_TYPE', 'PLACEHOLDER'], because: 'a template prints it as Go does, or drops it'},
  {
    codes: ['UNQUOTED_TEXT'],
    because:
      'a number or a switch is another text than it looks like, or nothing where it is false',
  },
  {
    codes: ['MISREAD_IN_MANIFEST'],
    because: 'YAML cuts blanks and comments off, or the key is not rendered with this file',
  },
  {
    codes: ['PVC_SIZE_REQUIRED', 'SECRET_KEY_REQUIRED', 'ABSOLUTE_SUB_PATH'],
    because: 'the key is not rendered with this file',
  },
  {
    codes: ['WRONG_VALUE'],
    path: /(^|\.)(data_home|dataDir|cacheDir|hostPath\.path|repository|tag|pullPolicy|imageRegistry|imageNamespace)$/,
    because:
      'no container can start from it; where YAML cuts a blank or a comment off, that was not meant',
  },
  {
    codes: ['WRONG_VALUE'],
    path: /(claimName|storageClassName|accessMode|storage|subPath|sizeLimit|tokenExistingSecret(Key)?|(Secret|serviceAccount)\.(name|key|certKey|keyKey))$/,
    because:
      'nothing in the cluster can have this name or size, whether the key is rendered with this file or not',
  },
  {
    codes: ['WRONG_VALUE'],
    path: /^(name|fullname)Override$|\.basename$|(log_?[fF]ormat|image_mode|container_task_image|shutdownMode|on_stop_action)$/,
    because: 'names are cut silently; of modes the agent takes those of the list',
  },
  {
    codes: ['WRONG_VALUE'],
    path: /[lL]abels\.|[aA]nnotations\.|[nN]odeSelector\./,
    because:
      'another map has the same key and wins, or the agent puts it on its pods, which Kubernetes then refuses',
  },
  {
    codes: ['WRONG_VALUE'],
    path: /(^|\.)strategy\.|podDisruptionBudget\.|_(timeout|limit|request)$|Seconds|Percent$|tokenTTL$|replicaCount$|concurrency$|Days$|backoffLimit$/,
    because: 'the key is not rendered with this file, or the agent cannot work with the number',
  },
  {
    codes: ['WRONG_VALUE'],
    path: /[eE]xtraEnv\./,
    because: 'no program asks for a variable with blanks in its name',
  },
  {
    codes: ['WRONG_VALUE', 'REJECTED_BY_KUBERNETES', 'MISSING_KEY', 'DUPLICATE_ITEM'],
    path: /(global|agent|task)\.podSecurityContext\b/,
    because: 'the context of all pods and that of some are merged, and the other one wins',
  },
  {
    codes: ['WRONG_VALUE'],
    path: /[rR]esources\b.*|emptyDir\.sizeLimit$/,
    because: 'Kubernetes takes a lonely sign for zero',
  },
  {
    codes: ['REJECTED_BY_KUBERNETES'],
    path: /imagePullSecrets\[\d+\]\.name$|\.(secretName|claimName|name)$|hostPath\.path$|topologyKey$|\.values(\[\d+\])?$/,
    because:
      'nothing in the cluster can be called so, so the pod waits for ever or the rule matches nothing',
  },
  {
    codes: ['REJECTED_BY_KUBERNETES'],
    path: /runAsUser$/,
    because: 'the kubelet refuses root where runAsNonRoot is set',
  },
  {
    codes: ['REJECTED_BY_KUBERNETES'],
    path: /seccompProfile\.type$/,
    because: 'the kubelet finds no profile of no name',
  },
  {codes: ['REJECTED_BY_KUBERNETES'], path: /[mM]ode$/, because: 'the API lets a number overflow'},
  {
    codes: ['MISSING_KEY'],
    path: /preference|httpHeaders|sysctls|preferred/,
    because: 'its schema demands the key, and the API fills in nothing',
  },
];

/** Values that Helm or Kubernetes rejects and validate does not find. */
const MISSED: readonly {path: RegExp; how: RegExp; because: string}[] = [
  {
    path: /[lL]abels$|[aA]nnotations$/,
    how: /^\{"a":null\}$/,
    because:
      'null is read as a key left out, and Helm keeps it where the default has no such key; only templates that break on labels mind',
  },
  {
    path: /(requests|limits)$/,
    how: /^\{"a":null\}$/,
    because: 'the same, and the name of a resource without an amount is wrong',
  },
];

export const isMissed = (path: string, how: string): boolean =>
  MISSED.some((each) => each.path.test(path) && each.how.test(how));

export const isJudged = ({code, subject}: KeyFinding): boolean =>
  JUDGED.some(
    (each) =>
      each.codes.includes(code) && (each.path?.test(subject.path.replace(/\[\d+\]$/, '')) ?? true),
  );
