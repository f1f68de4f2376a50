import {build} from '/work/wt/speed/node_modules/esbuild/lib/main.js';
import {readdirSync,rmSync,cpSync} from 'node:fs';
const out=process.argv[2];
const sourcesIn=(f)=>readdirSync(f,{recursive:true,encoding:'utf8'}).filter(x=>x.endsWith('.ts')).map(x=>`${f}/${x}`);
const S={outbase:'src',outdir:out+'/dist',bundle:true,format:'esm',platform:'node',minify:false,loader:{'.md':'text','.gotmpl':'text','.tf':'text','.sh':'text','.yaml':'text'}};
rmSync(out,{recursive:true,force:true});
const r=await build({...S,entryPoints:['src/cli/launch.ts','src/cli/help.ts',...sourcesIn('src/commands')],target:'node20.17',splitting:true,metafile:true,banner:{js:"import {createRequire} from 'node:module'; const require = createRequire(import.meta.url), {filename: __filename, dirname: __dirname} = import.meta;"},alias:{yaml:'./node_modules/yaml/browser/dist/index.js'},external:['typescript']});
await build({...S,entryPoints:sourcesIn('src/bin'),target:'es2017',supported:{'dynamic-import':true},external:['../cli/launch.js'],define:{NODE_FLOOR:'"20.17"'}});
for(const f of ['package.json','oclif.manifest.json','schemas','templates'])cpSync(f,out+'/'+f,{recursive:true});
