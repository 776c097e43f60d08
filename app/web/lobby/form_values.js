// What is filled into a form, as plain values by the names of its controls.

/** Return the values: texts, and true or false for boxes. */
export function valuesOf(form) {
  const values = {};
  for (const control of form.elements) {
    if (!control.name) continue;
    if (control.type === "checkbox") values[control.name] = control.checked;
    else if (control.type !== "radio") values[control.name] = control.value;
    else if (control.checked) values[control.name] = control.value;
  }
  return values;
}

/** Fill values in; what has no name among them stays, and so does what cannot be chosen. */
export function setValues(form, values) {
  for (const control of form.elements) {
    const value = values[control.name];
    if (value === undefined) continue;
    if (control.type === "checkbox") control.checked = value === true;
    else if (control.type === "radio") control.checked = control.value === value;
    else if (control.localName !== "select" || offers(control, value)) control.value = value;
  }
}

function offers(select, value) {
  return [...select.options].some((option) => option.value === value);
}
