/** Shells whose Tab can be taught: by which file of templates/completion, and by which line where for good. */
export const SHELLS = {
  bash: {file: 'scalr-agent.bash', load: 'source <(scalr-agent completion bash)', startup: '~/.bashrc'},
  zsh: {file: 'scalr-agent.zsh', load: 'source <(scalr-agent completion zsh)', startup: '~/.zshrc'},
  fish: {file: 'scalr-agent.fish', load: 'scalr-agent completion fish | source', startup: '~/.config/fish/config.fish'},
  powershell: {
    file: 'scalr-agent.ps1',
    load: 'scalr-agent completion powershell | Out-String | Invoke-Expression',
    startup: '$PROFILE',
  },
} as const;
export type Shell = keyof typeof SHELLS;
