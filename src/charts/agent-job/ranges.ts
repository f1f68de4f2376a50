/** 0.5.64 rewrote the chart: earlier versions have flat keys, and only the controller supports extra variables. */
export const FLAT = '<=0.5.63';
export const NESTED = '>=0.5.64';

/** Runs are made from one Job template, since 0.5.68 from an `AgentTaskTemplate`; objects then have the names of the release. */
export const JOB_TEMPLATE = '0.5.64 - 0.5.67';
export const TASK_TEMPLATES = '>=0.5.68';

/** Each run downloads its entrypoint, which runs otherwise take from the image of the agent. */
export const ENTRYPOINT_DOWNLOAD = '0.5.67 - 0.5.68';

/** The worker stops a run after 360 s, whatever grace period its pod has. */
export const FIXED_SHUTDOWN = '0.5.64 - 0.5.68';

/** Labels of the controller break the templates. */
export const NO_CONTROLLER_LABELS = '0.5.64 - 0.5.67';

/** `global.labels` breaks the templates. */
export const NO_GLOBAL_LABELS = '0.5.68 - 0.5.76 || 0.5.78 - 0.5.79';

/** The PodDisruptionBudget of several controllers is not rendered. */
export const NO_CONTROLLER_BUDGET = '0.6.1 - 0.6.3';

/** Missing in the releases between, which were cut from an older branch. */
export const MUTUAL_TLS = '0.5.76 - 0.5.77 || >=0.6.1';
