/** A command in what the program prints or its docs say, cut into words as a shell does it. */
export interface PrintedCommand {
  text: string;
  tool: string;
  args: readonly string[];
}

const TOOLS = ['kubectl', 'helm', 'scalr-agent', 'scalr-agent-install', 'npx', 'docker', 'systemctl', 'journalctl'];
/** A command begins a line, or follows a colon, a prompt, a quote, a list mark or another command. */
const START = new RegExp(`(?:^\\s*(?:[-→$#] +)?|: |\`|&& |\\| |; or |do |sudo )(?=(?:${TOOLS.join('|')})(?= [\\w"'/-]))`, 'gm');
/** What ends it outside of quotes: the end of the line, another command, or prose. */
const END = /^(?:\n|`|[;|&]|, |\. (?=[A-Z])|\.$|\.\n| \(| [<>#] ?)/;

/** Every command in the text, in order. */
export function commandsIn(text: string): PrintedCommand[] {
  const joined = text.replaceAll(/ \\\n\s*/g, ' ');
  return [...joined.matchAll(START)].map(({index, 0: before}) => commandAt(joined.slice(index + before.length)));
}

function commandAt(text: string): PrintedCommand {
  const words: string[] = [''];
  let quote = '';
  let end = 0;
  for (; end < text.length; end++) {
    const char = text[end] as string;
    if (quote === '' && END.test(text.slice(end))) break;
    if (char === quote) quote = '';
    else if (quote === '' && (char === '"' || char === "'")) quote = char;
    else if (quote === '' && char === ' ') words.push('');
    else words.push(`${words.pop()}${char}`);
  }
  const [tool = '', ...args] = words.filter((word) => word !== '');
  return {text: text.slice(0, end).trimEnd(), tool, args};
}
