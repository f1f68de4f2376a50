import {shapes} from './shapes.ts';

/** Addresses that are secrets, and addresses with a secret in the query or in the path. */
export const webhooks = shapes(
  'webhooks and URLs',
  `
https://hooks.slack.com/services/{slackPath}
POST https://hooks.slack.com/services/{slackPath} 200 OK
https://hooks.slack.com/workflows/{slackPath}
https://hooks.slack.com/triggers/T0{num}/{account}/{hex32}
https://discord.com/api/webhooks/{discordPath}
https://discordapp.com/api/webhooks/{discordPath}/slack
https://{org}.webhook.office.com/webhookb2/{id}@{id#2}/IncomingWebhook/{hex32}/{id#3}
https://prod-12.westeurope.logic.azure.com:443/workflows/{hexid}/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig={url32}
https://api.telegram.org/bot{telegramToken}/sendMessage
https://chat.googleapis.com/v1/spaces/AAAA/messages?key={gcpApiKey}&token={url32}
https://outlook.office.com/webhook/{id}@{id#2}/IncomingWebhook/{hex32}/{id#3}
https://events.pagerduty.com/integration/{hex32}/enqueue
https://api.opsgenie.com/v1/json/datadog?apiKey={uuid}
https://hooks.zapier.com/hooks/catch/{num}/{lower16}/
https://maker.ifttt.com/trigger/deploy/with/key/{url32}
https://mattermost.{domain}/hooks/{lower32}
https://rocket.{domain}/hooks/{reference}/{alnum40}
https://hooks.{domain}/t/{alnum32}
https://webhook.site/{uuid}
https://hc-ping.com/{uuid}
https://healthchecks.{domain}/ping/{uuid}/start
https://cronitor.link/p/{hex32}/{app}
https://http-intake.logs.datadoghq.com/v1/input/{datadogKey}
https://http-intake.logs.datadoghq.com/api/v2/logs?dd-api-key={datadogKey}
https://app.datadoghq.com/api/v1/series?api_key={datadogKey}&application_key={datadogAppKey}
https://log-api.newrelic.com/log/v1?Api-Key={newRelicLicense}
https://collectors.sumologic.com/receiver/v1/http/{alnum64}==
https://logs-01.loggly.com/inputs/{uuid}/tag/http/
https://{sentryDsnKey}@o{num}.ingest.sentry.io/{pid}
https://{sentryDsnKey}:{hex32}@sentry.{domain}/{num}
https://{bucket}.s3.{region}.amazonaws.com/state?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={akid}%2F20261124%2F{region}%2Fs3%2Faws4_request&X-Amz-Date=20261124T120000Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature={signature}
https://{bucket}.s3.amazonaws.com/x.zip?AWSAccessKeyId={akid}&Expires=1790000000&Signature={base64of16|url}
https://{bucket}.s3.amazonaws.com/x?X-Amz-Security-Token={awsSession|url}&X-Amz-Signature={signature}
https://storage.googleapis.com/{bucket}/x?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=ci&X-Goog-Signature={hex128}
https://storage.googleapis.com/{bucket}/x?GoogleAccessId=ci&Expires=1790000000&Signature={base64of64|url}
https://st{short}.blob.core.windows.net/c/b.tfstate?sv=2022-11-02&st=2026&se=2027&sr=b&sp=r&sig={azureSharedKey|url}
https://d{short}.cloudfront.net/a.zip?Expires=1790000000&Signature={url64}~&Key-Pair-Id=K2JCJMDEHXQW5F
https://archivist.terraform.io/v1/object/dmF1bHQ6djE6{url64}
https://scalr.io/api/iacp/v3/runs/{run}/output?token={alnum40}
https://codeload.github.com/{org}/{repo}/legacy.tar.gz/main?token={upper24}
https://raw.githubusercontent.com/{org}/{repo}/main/x.yml?token={upper24}
https://gitlab.{domain}/api/v4/projects/3/repository/archive?private_token={gitlabPat}
https://gitlab.{domain}/api/v4/projects/{num}/trigger/pipeline?token={hex40}&ref=main
https://jenkins.{domain}/job/{app}/build?token={alnum20}
https://jenkins.{domain}/generic-webhook-trigger/invoke?token={passphrase}
https://{user}:{jenkinsToken}@jenkins.{domain}/job/x/build
https://grafana.{domain}/api/dashboards?auth_token={jwt}
https://api.{domain}/v1/data?api_key={alnum32}
https://api.{domain}/v1/data?apikey={hex32}&format=json
https://api.{domain}/v1/data?key={alnum40}
https://api.{domain}/v1/data?access_token={alnum64}
https://api.{domain}/v1/data?auth={alnum24}
https://api.{domain}/v1?signature={hex64}&ts=1790000000
https://api.{domain}/v1?password={password|url}&user={user}
https://api.{domain}/v1?pwd={humanPassword|url}
https://api.{domain}/v1?secret={alnum32}
https://api.{domain}/v1?client_secret={url32}&client_id={id}
https://{domain}/oauth/callback?code={url32}&state={short}
https://{domain}/callback#access_token={jwt}&token_type=bearer
https://{domain}/reset-password?token={url32}
https://{domain}/reset-password/{url32}
https://{domain}/invite/{alnum32}
https://{domain}/magic-link?t={jwt}
https://{domain}/share/{url32}
(limit) https://{domain}/unsubscribe?u={num}&h={hex32}
https://{domain}/login?redirect=https%3A%2F%2F{domain}%2F%3Ftoken%3D{alnum32}
"GET /api/v1/items?token={hex40} HTTP/1.1" 200 512 "-" "curl/8.5.0"
{ip} - - [24/Nov/2026:12:00:00 +0000] "GET /cb?code={alnum32}&state=x HTTP/1.1" 302 0
wss://stream.{domain}/ws?ticket={alnum32}
wss://socket.{domain}/?token={jwt}
otpauth://totp/{org}:{user}?secret={totp}&issuer={org}
vault://token:{vaultToken}@vault.{domain}/secret
docker://{user}:{dockerPat}@index.docker.io/v1/
"url": "https://api.mapbox.com/styles/v1?access_token=sk.eyJ1{alnum48}.{alnum20}"
https://api.bitbucket.org/2.0/repositories/{org}?access_token={alnum40}%3D
https://circleci.com/api/v1.1/project?circle-token={hex40}
https://api.travis-ci.com/repos.svg?token={alnum20}
https://codecov.io/upload/v4?commit={sha}&token={uuid}
https://{alnum20}@packagecloud.io/{org}/{repo}/packages.rb
https://dl.cloudsmith.io/{alnum16}/{org}/{repo}/python/simple/
https://{alnum32}:@api.{domain}/v1
(limit) https://pypi.{domain}/{hex32}/simple/
https://repo.{domain}/artifactory/api/npm?apiKey={artifactoryKey}
(limit) https://{domain}/d/{alnum8}
(limit) https://{domain}/f/{uuid}
(limit) https://{domain}/{lower16}
(limit) https://{domain}/x?id={alnum24}
(limit) https://{domain}/doc/{hex32}/edit
(limit) https://{domain}/?q={humanPassword|url}
`,
);
