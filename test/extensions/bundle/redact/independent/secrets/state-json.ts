import {shapes} from './shapes.ts';

/** `terraform show -json`, `terraform state pull`, `terraform output -json` and the bodies of backends. */
export const stateJson = shapes(
  'state and plan JSON',
  String.raw`
{"address":"aws_db_instance.main","mode":"managed","type":"aws_db_instance","values":{"engine":"postgres","password":"{randomPassword|gojson}","username":"{user}"}}
            "password": "{randomPassword|gojson}",
            "master_password": "{password|gojson}",⏎            "master_username": "{user}",
            "result": "{randomPassword|gojson}",
            "bcrypt_hash": "{bcrypt}",⏎            "length": 20,
            "secret": "{awsSecret}",⏎            "ses_smtp_password_v4": "{base64of32}",
            "id": "{akid}",⏎            "secret": "{awsSecret}",⏎            "status": "Active",
            "secret_string": "{\"username\":\"{user}\",\"password\":\"{password|json|json}\"}",
            "secret_string": "{alnum40}",
            "value": "{password|gojson}",⏎            "type": "SecureString",
            "private_key_pem": "{rsaKey|json}\n",
            "private_key_openssh": "{opensshRsaKey|json}\n",
            "client_key": "{ecKey|json}\n",
            "private_key": "{kubeconfigKey}",
            "kube_config_raw": "apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n    client-key-data: {kubeconfigKey}\n    token: {hex128}\n",
            "kube_config": [⏎              {⏎                "client_key": "{kubeconfigKey}",⏎                "password": "{hex128}",⏎                "username": "clusterUser"⏎              }⏎            ],
            "primary_access_key": "{azureStorageKey}",⏎            "primary_blob_connection_string": "DefaultEndpointsProtocol=https;BlobEndpoint=https://st.blob.core.windows.net/;AccountName=st;AccountKey={azureStorageKey}",
            "primary_key": "{azureCosmosKey}",
            "primary_master_key": "{azureCosmosKey}",
            "auth_token": "{alnum32}",
            "token": "{k8sToken}",
            "token": "{hex40}",
            "data": {⏎              "password": "{password|gojson}",⏎              "username": "{user}"⏎            },
            "data": {"tls.key": "{ecPkcs8Key|json}"}
            "binary_data": {"password": "{password|b64}"}
            "environment": [{"variables": {"DB_PASSWORD": "{password|gojson}", "LOG_LEVEL": "info"}}]
            "environment": [{"variables": {"API_TOKEN": "{hex40}", "STAGE": "prod"}}]
            "container_definitions": "[{\"environment\":[{\"name\":\"DB_PASSWORD\",\"value\":\"{password|json|json}\"}],\"name\":\"{app}\"}]",
            "container_definitions": "[{\"command\":[\"--token\",\"{alnum40}\"],\"name\":\"{app}\"}]",
            "values": ["auth:\n  password: {alnumPassword}\n  username: {user}\n"],
            "set": [{"name": "adminPassword", "type": "", "value": "{password|gojson}"}],
            "metadata": [{"values": "{\"grafana\":{\"adminPassword\":\"{password|json|json}\"}}"}],
            "user_data": "#!/bin/bash\nexport DB_PASSWORD='{password|json}'\n",
            "user_data_base64": "{passphrase|b64}",
            "content": "password={alnumPassword}\nuser={user}\n",
            "content_base64": "{randomPassword|b64}",
            "sensitive_content": "{alnum40}",
            "triggers": {"cmd": "PGPASSWORD={alnumPassword} psql"}
            "app_settings": {"WEBSITE_KEY": "{base64of32}", "DB_CONN": "Server={host};Password={alnumPassword};"}
            "connection_string": "mongodb+srv://{user}:{alnumPassword}@{domain}/{app}",
            "tunnel1_preshared_key": "{alnum32}",⏎            "tunnel2_preshared_key": "{alnum32#2}",
            "customer_gateway_configuration": "<?xml version=\"1.0\"?><ike><pre_shared_key>{alnum32}</pre_shared_key></ike>",
            "sensitive_values": {"password": true}, "values": {"password": "{password|gojson}"}
{"db_password":{"sensitive":true,"type":"string","value":"{randomPassword|gojson}"}}
{⏎  "api_token": {⏎    "sensitive": true,⏎    "type": "string",⏎    "value": "{alnum40}"⏎  }⏎}
{"outputs":{"kubeadm_token":{"value":"{bootstrapToken}","type":"string","sensitive":true}}}
{"outputs":{"creds":{"value":["{user}","{randomPassword|gojson}"],"type":["tuple",["string","string"]],"sensitive":true}}}
{"@level":"info","@message":"Outputs: 1","@module":"terraform.ui","type":"outputs","outputs":{"db_password":{"sensitive":false,"type":"string","value":"{password|gojson}"}}}
{"variables":{"db_password":{"value":"{password|gojson}"},"region":{"value":"{region}"}}}
{"variables":{"scalr_token":{"value":"{scalrToken}"}}}
{"variables":{"pat":{"value":"{azureDevopsPat}"},"env":{"value":"prod"}}}
{"resource_changes":[{"address":"random_password.db","change":{"actions":["create"],"before":null,"after":{"result":"{randomPassword|gojson}"}}}]}
"change":{"actions":["update"],"before":{"password":"{password|gojson}"},"after":{"password":"{password#2|gojson}"},"after_unknown":{}}
"change":{"before":{"secret_data":"{alnum32}"},"after":{"secret_data":"{alnum32#2}"},"before_sensitive":{"secret_data":true}}
"provider_config":{"aws":{"name":"aws","expressions":{"access_key":{"constant_value":"{akid}"},"secret_key":{"constant_value":"{awsSecret}"}}}}
"expressions":{"password":{"constant_value":"{password|gojson}"},"username":{"constant_value":"{user}"}}
"expressions":{"token":{"constant_value":"{githubPat}"},"owner":{"constant_value":"{org}"}}
"planned_values":{"outputs":{"token":{"sensitive":true,"value":"{vaultToken}"}}}
{"version":4,"terraform_version":"{version}","serial":{num},"outputs":{"password":{"value":"{alnumPassword}","type":"string"}}}
{"schema_version":0,"attributes":{"access_key":"{akid}","secret_key":"{awsSecret}","security_token":"{awsSession}"},"private":"{opaque}"}
"attributes": {"bearer_token": "{hex64}", "id": "{id}"}
"attributes": {"name": "ci", "key": "{datadogKey}"}
"attributes_flat": {"password": "{password|gojson}", "env.DB_PASS": "{alnumPassword}"}
"sensitive_attributes": [[{"type": "get_attr", "value": "password"}]], "attributes": {"password": "{hardPassword|gojson}"}
{"data":{"id":"{run}","type":"variables","attributes":{"key":"AWS_SECRET_ACCESS_KEY","value":"{awsSecret}","category":"shell","sensitive":false}}}
{"data":{"attributes":{"key":"db_password","value":"{password|gojson}","hcl":false,"sensitive":true},"type":"vars"}}
{"data":{"attributes":{"key":"GITHUB_TOKEN","category":"env","value":"{githubPat}"}}}
{"data":{"attributes":{"key":"settings","value":"{ password = \"{alnumPassword}\" }","hcl":true}}}
{"data":[{"attributes":{"key":"ARM_CLIENT_SECRET","value":"{azureSecret}"}}]}
{"query":{"environment":"prod"},"result":{"password":"{password|gojson}"}}
{"hosted-state-download-url":"https://archivist.terraform.io/v1/object/{url64}","serial":{num}}
{"id":"{run}","attributes":{"secret-variables":{"TF_VAR_db_password":"{password|gojson}"}}}
{"terraform_variables":[{"name":"db_password","value":"{password|gojson}"}],"shell_variables":[{"name":"VAULT_TOKEN","value":"{vaultToken}"}]}
{"name":"AWS_SECRET_ACCESS_KEY","value":"{awsSecret}","sensitive":true}
{"value":"{password|gojson}","key":"admin_password","sensitive":true}
{"key": "VAULT_ROLE_SECRET", "value": "{uuid}"}
{"credentials":{"scalr.io":{"token":"{scalrToken}"}}}
{"credentials":{"app.terraform.io":{"token":"{tfcToken}"}}}
{"git_token":"{alnum40}","vcs_url":"https://github.com/{org}/{repo}.git"}
{"provider_configurations":[{"name":"aws","export_shell_variables":true,"arguments":[{"key":"secret_key","value":"{awsSecret}"}]}]}
(limit)             "value": "{humanPassword|gojson}",
(limit)             "id": "{alnum24}",
(limit)             "input": ["{alnum16}"],
(limit)             "keepers": {"rotation": "{lower16}"}
(limit)             "special": true,⏎            "seed": "{word}"
`,
);
