// Loads the OpenAPI document with the reader's key, and shows it with Swagger UI, which then sends that key.
"use strict";

const SCHEME = "key"; // the document's security scheme for X-API-Key
const DARK = matchMedia("(prefers-color-scheme: dark)");
const $ = (id) => document.getElementById(id);

let ui = null;

/** The document, as it is served to this key; throws an Error with the service's own words. */
async function load(key) {
  const response = await fetch("/v1/openapi.json", { headers: { "X-API-Key": key } });
  const body = await response.json();
  if (!response.ok) throw new Error(typeof body.detail === "string" ? body.detail : JSON.stringify(body.detail));
  return body;
}

function show(spec, key) {
  ui = SwaggerUIBundle({
    domNode: $("console"),
    spec,
    presets: [SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    deepLinking: true,
    filter: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    syntaxHighlight: false, // with it, a response of some hundred kilobytes halts the page for half a minute
    validatorUrl: null, // the default validates at another host
    onComplete: () => ui.preauthorizeApiKey(SCHEME, key),
  });
}

/** Check the key; the first time, show the document. It is the same for every key. */
async function open(event) {
  event.preventDefault();
  const key = $("key").value.trim();
  $("problem").textContent = "";
  $("open").disabled = true;
  try {
    const spec = await load(key);
    if (ui) ui.preauthorizeApiKey(SCHEME, key);
    else show(spec, key);
  } catch (error) {
    $("problem").textContent = error.message;
  } finally {
    $("open").disabled = false;
  }
}

const setTheme = () => document.documentElement.classList.toggle("dark-mode", DARK.matches);

DARK.addEventListener("change", setTheme);
setTheme();
$("key-form").addEventListener("submit", open);
