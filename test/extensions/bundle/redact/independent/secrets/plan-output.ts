import {shapes} from './shapes.ts';

/** What `terraform plan`, `apply`, `output` and `console` print about values that nobody marked as sensitive. */
export const planOutput = shapes(
  'plan output',
  String.raw`
  # aws_db_instance.main will be created⏎  + resource "aws_db_instance" "main" {⏎      + password                              = "{randomPassword|json}"⏎      + username                              = "{user}"
      + master_password                       = "{password|json}"
      ~ password                              = "{password|json}" -> "{password#2|json}"
      - password                 = "{password|json}" -> null
      ~ db_password    = "{humanPassword|json}" -> (known after apply)
  ~ password = "{alnumPassword}" -> "{alnumPassword#2}" # forces replacement
      + auth_token                 = "{alnum32}"
      + admin_password             = "{password|json}"
      + administrator_login_password      = "{randomPassword|json}"
      + secret_string  = "{password|json}"
      + secret_string = jsonencode(⏎            {⏎              + password = "{randomPassword|json}"⏎              + username = "{user}"⏎            }⏎        )
      ~ secret_string  = jsonencode(⏎          ~ {⏎              ~ api_key  = "{alnum40}" -> "{alnum40#2}"⏎                # (3 unchanged attributes hidden)⏎            }⏎        )
      + result      = "{randomPassword|json}"
      + secret_data           = "{base64of32}"
      + value          = "{alnum40}"
      + value                = "{awsSecret}"
      + secret               = "{awsSecret}"
      + ses_smtp_password_v4 = "{base64of32}"
      + client_secret                   = "{azureSecret}"
      + value        = "{azureSecret}"⏎        # azuread_application_password.ci
      + primary_access_key               = "{azureStorageKey}"
      + primary_connection_string        = "DefaultEndpointsProtocol=https;AccountName=st{short};AccountKey={azureStorageKey};EndpointSuffix=core.windows.net"
      + account_key  = "{azureStorageKey}"
      + storage_account_access_key        = "{azureStorageKey}"
      + instrumentation_key                   = "{uuid}"
      + environment {⏎          + variables = {⏎              + "DB_HOST"     = "{host}"⏎              + "DB_PASSWORD" = "{password|json}"⏎            }⏎        }
          ~ variables = {⏎              ~ "STRIPE_SECRET_KEY" = "{stripeKey}" -> "{stripeKey#2}"⏎                # (6 unchanged elements hidden)⏎            }
              + "SLACK_BOT_TOKEN"  = "{slackBot}"
              + "SESSION_SECRET"   = "{hex64}"
              + "JWT_SIGNING_KEY"  = "{base64of32}"
              + "DATABASE_URL"     = "postgres://{user}:{password|url}@{host}:5432/{app}?sslmode=require"
              + "REDIS_URL" = "rediss://:{alnum32}@{host}:6379/0"
              + "ENCRYPTION_KEY" = "{hex32}"
              + "DD_API_KEY" = "{datadogKey}"
              + "SENTRY_DSN" = "https://{sentryDsnKey}@o{num}.ingest.sentry.io/{pid}"
      + container_definitions    = jsonencode(⏎            [⏎              + {⏎                  + environment = [⏎                      + {⏎                          + name  = "DB_PASSWORD"⏎                          + value = "{password|json}"⏎                        },⏎                    ]
      ~ container_definitions    = "[{\"name\":\"{app}\",\"environment\":[{\"name\":\"API_TOKEN\",\"value\":\"{alnum40}\"}]}]" -> (known after apply)
      + user_data                            = <<-EOT⏎            #!/bin/bash⏎            export DB_PASSWORD='{randomPassword}'⏎            /opt/app/start⏎        EOT
      + user_data = <<-EOT⏎            #cloud-config⏎            chpasswd:⏎              list: |⏎                {user}:{password}⏎              expire: false⏎        EOT
      + user_data_base64 = "{humanPassword|b64}"
      + custom_data                     = "{passphrase|b64}"
      + values                     = [⏎          + <<-EOT⏎                auth:⏎                  postgresPassword: {randomPassword|yaml}⏎                  database: {app}⏎            EOT,⏎        ]
      + set {⏎          + name  = "grafana.adminPassword"⏎          + value = "{password|json}"⏎            # (1 unchanged attribute hidden)⏎        }
      + set_sensitive {⏎          + name  = "controller.adminPassword"⏎          + value = "{password|json}"⏎        }
      + data = {⏎          + "password" = "{password|json}"⏎          + "username" = "{user}"⏎        }
      + data     = {⏎          + "application.properties" = <<-EOT⏎                spring.datasource.username={user}⏎                spring.datasource.password={alnumPassword}⏎            EOT⏎        }
      + data = {⏎          + ".dockerconfigjson" = jsonencode(⏎                {⏎                  + auths = {⏎                      + "registry.{domain}" = {⏎                          + auth = "{basic}"⏎                        }
      + content              = <<-EOT⏎            [default]⏎            aws_access_key_id = {akid}⏎            aws_secret_access_key = {awsSecret}⏎        EOT
      + content              = "token: {alnum40}\n"
      + content_base64 = "{randomPassword|b64}"
      + triggers = {⏎          + "command" = "mysql -h {host} -u {user} -p{alnumPassword} -e 'select 1'"⏎        }
      + triggers         = {⏎          + "token" = "{hex40}"⏎        }
      + triggers_replace = [⏎          + "{alnum32}",⏎        ]
      + input  = {⏎          + db_password = "{password|json}"⏎        }⏎      + output = (known after apply)
Changes to Outputs:⏎  + db_password = "{randomPassword|json}"
Changes to Outputs:⏎  ~ api_token = "{alnum40}" -> "{alnum40#2}"
  + admin_credentials = {⏎      + password = "{randomPassword|json}"⏎      + username = "{user}"⏎    }
Outputs:⏎⏎db_endpoint = "{host}:5432"⏎db_password = "{randomPassword|json}"
Outputs:⏎⏎kubeconfig = <<EOT⏎apiVersion: v1⏎users:⏎- name: admin⏎  user:⏎    token: {k8sToken}⏎⏎EOT
access_key_secret = "{awsSecret}"
connection_string = "Server=tcp:{host},1433;Initial Catalog={app};User ID={user};Password={alnumPassword};Encrypt=True;"
service_account_key = "{kubeconfigKey}"
generated_passwords = [⏎  "{randomPassword|json}",⏎  "{randomPassword#2|json}",⏎]
user_passwords = tomap({⏎  "alice" = "{randomPassword|json}"⏎  "bob" = "{randomPassword#2|json}"⏎})
      + parameter {⏎          + name         = "rds.master_password"⏎          + value        = "{password|json}"⏎        }
      + setting {⏎          + name      = "DB_PASSWORD"⏎          + namespace = "aws:elasticbeanstalk:application:environment"⏎          + value     = "{password|json}"⏎        }
      + app_settings                   = {⏎          + "AzureWebJobsStorage"  = "DefaultEndpointsProtocol=https;AccountName=func{short};AccountKey={azureStorageKey}"⏎          + "COSMOS_KEY" = "{azureCosmosKey}"⏎        }
      + connection_string {⏎          + name  = "Database"⏎          + type  = "SQLAzure"⏎          + value = "Server=tcp:{host};User Id={user};Password={alnumPassword}"⏎        }
      + private_key_pem               = <<-EOT⏎            {rsaKey|indent:12}⏎        EOT
      + private_key_openssh = <<-EOT⏎            {opensshKey|indent:12}⏎        EOT
      + psk                     = "{alnum32}"
      + tunnel1_preshared_key          = "{alnum32}"
      + shared_key                     = "{alnum24}"
      + token       = "{gitlabPat}"
      + plaintext_value = "{alnum40}"
      + webhook_url = "https://hooks.slack.com/services/{slackPath}"
      + api_key     = "{datadogKey}"⏎      + app_key     = "{datadogAppKey}"
      + integration_key = "{hex32}"
      + license_key = "{newRelicLicense}"
      + community = "{alnum16}"
      + access_key = "{wireguard}"
      + join_command = "kubeadm join {ip}:6443 --token {bootstrapToken} --discovery-token-ca-cert-hash sha256:{sha}"
      + root_password                  = "{humanPassword|json}"
      + credentials = "{\"type\":\"service_account\",\"private_key_id\":\"{hex40}\",\"client_id\":\"{account}\"}"
      + password_wo_version = 1⏎      + bootstrap_password  = "{alnum16}"
      + body                      = jsonencode(⏎            {⏎              + properties = {⏎                  + adminPassword = "{password|json}"⏎                }⏎            }⏎        )
      + request_headers = {⏎          + "Authorization" = "Bearer {alnum40}"⏎        }
      ~ query_string = "sig={azureSharedKey|url}&se=2027-01-01"
      + url = "https://{user}:{alnumPassword}@{domain}/hooks"
      + provisioner_command = "curl -H 'X-Api-Key: {alnum40}' https://api.{domain}"
      + statement = "CREATE USER {user} WITH PASSWORD '{password}'"
      + sas_url = "https://st{short}.blob.core.windows.net/{bucket}?sv=2022-11-02&sp=rl&sig={azureSharedKey|url}"
      + registration_token = "{gitlabOldRunner}"
      + metadata = {⏎          + "startup-script" = <<-EOT⏎                vault login {vaultToken}⏎            EOT⏎        }
      + metadata = {⏎          + "windows-admin-password" = "{password|json}"⏎        }
      - value        = "{alnum32}" -> null⏎      - type         = "SecureString" -> null
  + value     = "{randomPassword|json}"⏎  + type      = "String"⏎  + name      = "/{app}/prod/db/password"
      + access_token                  = "{githubPat}"
      + oauth_token      = "{githubOauth}"
      + smtp_password = "{sendgridKey}"
      + default_value = "{humanPassword|json}"⏎      + name          = "db_password"
aws_iam_access_key.ci: Creation complete after 1s [id={akid}] secret={awsSecret}
random_password.db: Refreshing state... [id=none, result={alnum24}]
random_string.token: Creation complete after 0s [id={alnum24}]
> random_password.db.result⏎"{randomPassword|json}"
> nonsensitive(var.db_password)⏎"{password|json}"
> local.secrets⏎{⏎  "api_token" = "{alnum40}"⏎  "db" = "{password|json}"⏎}
null_resource.init (local-exec): Executing: ["/bin/sh" "-c" "PGPASSWORD={alnumPassword} psql -h {host} -U {user} -f init.sql"]
null_resource.init (local-exec): Executing: ["/bin/sh" "-c" "vault kv put secret/{app} password={alnumPassword}"]
null_resource.seed (local-exec): {"password":"{password|json}","user":"{user}"}
null_resource.seed (remote-exec): + echo {alnumPassword}
data.external.creds: Read complete after 1s [id=-] result={"token":"{hex40}"}
│ Error: invalid value for variable⏎│ ⏎│   on {file} line 12:⏎│   12:   password = "{password|json}"⏎│ ⏎│ var.db_password is "{password|json}"
│ Error: creating RDS DB Instance: InvalidParameterValue: The parameter MasterUserPassword {alnum16} is not a valid password.
│   18:   token = "{hex40}"⏎│     ├────────────────⏎│     │ var.api_token is "{hex40}"
│ Warning: Value for undeclared variable⏎│ The root module does not declare a variable named "db_pass" but a value "{humanPassword|json}" was found in file "prod.tfvars".
(limit)   default     = "{password|json}"
        + argument  = "--token={hex40}"
        + args    = [⏎          + "--admin-password",⏎          + "{password|json}",⏎        ]
        + command = [⏎          + "sh",⏎          + "-c",⏎          + "redis-server --requirepass {alnum20}",⏎        ]
                      + env {⏎                          + name  = "POSTGRES_PASSWORD"⏎                          + value = "{password|json}"⏎                        }
                      ~ env {⏎                            name  = "SECRET_KEY_BASE"⏎                          ~ value = "{hex128}" -> "{hex128#2}"⏎                        }
(limit) Outputs:⏎⏎seed = "{alnum16}"
(limit) > local.suffix⏎"{lower16}"
(limit) null_resource.seed (local-exec): {alnumPassword}
(limit)       + value = "{humanPassword|json}"
(limit)       + tags = {⏎          + "note" = "{humanPassword|json}"⏎        }
(limit)       + description = "temporary login is {user} / {humanPassword|json}"
(limit)   + generated = "{base64of16}"
(limit)           + "{word}",
`,
);
