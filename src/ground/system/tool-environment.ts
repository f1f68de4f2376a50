type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that select another cluster, user or namespace than the flags, or change what a command of kubectl does. */
const REPLACES_FLAGS = /^(HELM_KUBE\w+|HELM_NAMESPACE|KUBERC)$/i;

/** Tokens and settings of this program, which plugins of the tools would inherit; the URL of a proxy can contain a password. */
const OF_THIS_PROGRAM = /^(SCALR_TOKEN|SCALR_AGENT_TOKEN|SCALR_AGENT_INSTALL_.+|TF_TOKEN_.+)$/;

/** Set variables of helm and kubectl that this program does not pass on. */
export const ignoredVariables = (env: Environment): string[] =>
  Object.keys(env).filter((name) => REPLACES_FLAGS.test(name) && env[name] && env[name] !== 'off');

/**
 * The environment of helm and kubectl: that of the user without tokens and without what would replace the flags of a call. Preferences in ~/.kube/kuberc are
 * off, because with `delete: interactive=true` kubectl deletes nothing and succeeds.
 */
export function toolEnvironment(env: Environment = process.env): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !REPLACES_FLAGS.test(name) && !OF_THIS_PROGRAM.test(name))
      kept[name] = value;
  kept['KUBERC'] = 'off';
  return kept;
}
