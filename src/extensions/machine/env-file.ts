/** Variables of the agent, with its token. */
export const ENV_FILE = 'agent.env';

const HAS_TOKEN = `grep -q '^SCALR_AGENT_TOKEN=.' ${ENV_FILE}`;

/** Fails without a token in the file. */
export const EXPECT_TOKEN = `${HAS_TOKEN} || { echo '${ENV_FILE} contains no token. Set SCALR_AGENT_TOKEN in it.' >&2; false; }`;

/** Ends a script before it replaces an agent with one that has no token. */
export const REQUIRE_TOKEN = `${HAS_TOKEN} || { echo '${ENV_FILE} contains no token. Set SCALR_AGENT_TOKEN in it, and run this script again.' >&2; exit 1; }`;
