# Completion of scalr-agent and scalr-agent-install for PowerShell.

Register-ArgumentCompleter -Native -CommandName 'scalr-agent', 'scalr-agent-install' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $words = @(foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.EndOffset -ge $cursorPosition) { break }
        if ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $element.Value } else { $element.Extent.Text }
    })
    # Not as arguments: older versions lose empty ones and quotes.
    $env:SCALR_AGENT_WORDS = ($words + $wordToComplete.Trim("'", '"')) -join "`n"
    $program = $commandAst.GetCommandName()
    $encoding = [Console]::OutputEncoding
    try {
        [Console]::OutputEncoding = [System.Text.Encoding]::UTF8
        $lines = @(& $program __complete powershell 2>$null)
    } finally {
        [Console]::OutputEncoding = $encoding
        Remove-Item Env:SCALR_AGENT_WORDS
    }
    if ($lines.Count -lt 2) { return '' }
    $what, $before, $values = $lines
    if ($what -ne 'values') {
        $typed = $wordToComplete.Trim("'", '"').Substring($before.Length)
        foreach ($file in [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed)) {
            if ($what -eq 'directories' -and $file.ResultType -ne 'ProviderContainer') { continue }
            [System.Management.Automation.CompletionResult]::new($before + $file.CompletionText, $file.ListItemText, $file.ResultType, $file.ToolTip)
        }
        return
    }
    # An empty text keeps PowerShell from offering files instead.
    if (-not $values) { return '' }
    foreach ($line in $values) {
        $value, $description = $line -split "`t", 2
        $text = $before + $value
        if ($text -match '[^\w%+=:./-]') { $text = "'" + $text.Replace("'", "''") + "'" }
        if (-not $description) { $description = $value }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $description)
    }
}
